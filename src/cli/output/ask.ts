/** Questions to the person at a terminal. In a pipe, under cron and beside `--json` nobody is asked. */

import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { EXIT } from '../../core/exit-codes.ts'
import { isBucket } from '../../core/lake-address.ts'
import { MANIFEST_FOLDER } from '../../lake/files/layout.ts'
import { formatCounted } from '../../support/format.ts'
import { note } from './print.ts'
import { printable } from './text-table.ts'

/** Asks; without a clear yes the command ends with 1. @returns whether to go on */
export const agrees = async (question: string): Promise<boolean> => {
  // The terminal's own editing of lines: Ctrl-C stops the command as elsewhere.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  // A terminal that is closed answers nothing.
  const closed = new Promise<string>((settle) => lines.once('close', () => settle('')))
  const answer = await Promise.race([lines.question(`${printable(question)} [y/N] `), closed])
  lines.close()
  if (/^\s*y(es)?\s*$/i.test(answer)) return true
  note('Nothing is changed.')
  process.exitCode = EXIT.failed
  return false
}

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The question about a new lake in a place where one is hardly meant to be. */
const doubtAboutNewLake = async (lake: string): Promise<string | undefined> => {
  if (isBucket(lake) || (await exists(join(lake, MANIFEST_FOLDER)))) return undefined
  const held = await readdir(lake).catch(() => undefined)
  if (held !== undefined)
    return held.length === 0
      ? undefined
      : `"${lake}" is no lake and has ${formatCounted(held.length, 'other file or folder', 'other files or folders')} in it. Make a lake there?`
  const above = dirname(resolve(lake))
  return (await exists(above)) ? undefined : `"${above}" does not exist. Make it, and a lake below it?`
}

/** Asks before a lake is made among other files or below folders that do not exist. @returns whether to go on */
export const agreesToNewLake = async (lake: string): Promise<boolean> => {
  const doubt = await doubtAboutNewLake(lake)
  return doubt === undefined || (await agrees(doubt))
}

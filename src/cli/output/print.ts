/** Standard output and standard error: results go to the first, everything else to the second. */

import { once } from 'node:events'
import { Writable } from 'node:stream'
import { EXIT } from '../../core/exit-codes.ts'
import { writeLog } from './log.ts'
import { printableLines } from './text-table.ts'

/**
 * Writes text to standard output, waiting while its reader is slow. On a terminal nothing in it steers that.
 *
 * @param isOwn whether it was laid out here and may be in colour
 */
export const print = async (text: string, isOwn = false): Promise<void> => {
  const shown = process.stdout.isTTY ? printableLines(text, isOwn) : text
  if (shown !== '' && !process.stdout.write(shown)) await once(process.stdout, 'drain')
}

/** Standard output for whoever writes texts to a stream. */
export const printedStream = (): Writable =>
  process.stdout.isTTY
    ? new Writable({
        write: (bytes: Buffer, _, done) => void print(bytes.toString()).then(() => done(), done),
      })
    : process.stdout

/** Writes bytes to standard output; afterwards their memory may be used again. */
export const printBytes = (bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
  })

export const printLines = (lines: readonly string[]): Promise<void> =>
  print(lines.map((line) => `${line}\n`).join(''), true)

/** Prints a JSON document, laid out for people too. */
export const printJson = (value: unknown): Promise<void> => print(`${JSON.stringify(value, null, 2)}\n`)

/** A remark beside the result, or a text that begins with `warning: ` or `error `. */
export const note = (text: string): void => writeLog(text)

/**
 * A reader that has enough (`| head`) ends the command quietly: with 0, or with what the command found out
 * before it began to print.
 */
export const endWhenNobodyReads = (): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.done)
    note(`error WRITE_FAILED: Cannot write to standard output: ${error.message}`)
    process.exit(EXIT.failed)
  })
  // Without a reader of notes the work continues.
  process.stderr.on('error', () => undefined)
}

/** JSON Lines files in a folder: `<table>/<run>-<partition>.jsonl`, staged in a hidden folder until commit. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Receipt, Sink } from '../core/sink.ts'
import { placeFiles } from './place-files.ts'
import { stageFile } from './stage-file.ts'

export interface JsonLinesOptions {
  /** Folder for the files; made where it is missing. */
  readonly directory: string
}

/** One object a line, with the columns' names; numbers and lists as JSON, instants as text in UTC. */
export const jsonLines = ({ directory }: JsonLinesOptions): Sink => {
  let run = ''
  const staged = (path: string): string => join(directory, `.staging-${run}`, path)

  return {
    name: 'json-lines',

    async open(id) {
      run = id
    },

    async write(partition, table, rows): Promise<Receipt> {
      const path = `${table}/${run}-${partition}.jsonl`
      const { statistics, ...file } = await stageFile(staged(path), rows, { kind: 'json-lines' })
      return { table, rows: file.rows, files: [{ table, path, ...file }], statistics }
    },

    async commit(files) {
      await placeFiles(files.map(({ path }) => ({ from: staged(path), to: join(directory, path) })))
      await rm(staged(''), { recursive: true, force: true })
    },

    async abort() {
      await rm(staged(''), { recursive: true, force: true })
    },
  }
}

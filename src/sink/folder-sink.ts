/**
 * Files in a folder laid out as a lake: staged in `_runs/<run>/staging`, moved to `<table>/load=<run>/` on commit.
 * What a dead run leaves is in both places known as its own, so that gc of the folder's manifest removes it.
 */

import { basename } from 'node:path'
import type { CopyFormat } from '../core/relation.ts'
import type { Receipt, Sink } from '../core/sink.ts'
import { inLake, loadPath, stagingPath } from '../lake/layout.ts'
import { placeFiles } from './place-files.ts'
import { removeStaged, stageFile } from './stage-file.ts'

export interface FolderSinkOptions {
  readonly name: string
  /** Folder for the files; made where it is missing. */
  readonly directory: string
  readonly formatOf: (table: string) => CopyFormat
}

const SUFFIX: Readonly<Record<CopyFormat['kind'], string>> = {
  parquet: 'parquet',
  'json-lines': 'jsonl',
  csv: 'csv',
}

/** One file for each table of a partition. */
export const folderSink = ({ name, directory, formatOf }: FolderSinkOptions): Sink => {
  let run: string | undefined
  const opened = (): string => {
    if (run !== undefined) return run
    throw new TypeError(`Cannot use sink "${name}": it is not open`)
  }
  const staged = (table: string, file: string): string =>
    inLake(directory, `${stagingPath(opened())}/${table}/${file}`)

  return {
    name,

    async open(id) {
      run = id
    },

    async write(partition, table, rows): Promise<Receipt> {
      const format = formatOf(table)
      const file = `${partition}.${SUFFIX[format.kind]}`
      const path = `${loadPath(table, opened())}/${file}`
      const { statistics, ...entry } = await stageFile(staged(table, file), rows, format)
      return { table, rows: entry.rows, files: [{ table, path, ...entry }], statistics }
    },

    async commit(files) {
      await placeFiles(
        files.map(({ table, path }) => ({
          from: staged(table, basename(path)),
          to: inLake(directory, path),
        })),
      )
    },

    async abort() {
      if (run !== undefined) await removeStaged(inLake(directory, stagingPath(run)))
    },
  }
}

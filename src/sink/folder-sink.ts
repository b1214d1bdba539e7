/**
 * Files in a folder or bucket laid out as a lake: staged in `_runs/<run>/staging`, moved to `<table>/load=<run>/` on
 * commit. What a dead run leaves is in both places known as its own, so that gc of the lake's manifest removes it.
 */

import { basename } from 'node:path'
import type { CopyFormat, Relation } from '../core/relation.ts'
import type { Receipt, Sink } from '../core/sink.ts'
import { inLake, loadPath, stagingPath } from '../lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import { removeStaged, type StagedFile, stageFile } from './stage-file.ts'

export interface FolderSinkOptions {
  readonly name: string
  /** Folder for the files, made where it is missing, or `s3://bucket/prefix`. */
  readonly directory: string
  readonly formatOf: (table: string) => CopyFormat
}

const SUFFIX: Readonly<Record<CopyFormat['kind'], string>> = {
  parquet: 'parquet',
  'json-lines': 'jsonl',
  csv: 'csv',
}

/** One file for each table of a partition, written by the engine. */
export const folderSink = ({ name, directory, formatOf }: FolderSinkOptions): Sink =>
  fileSink({
    name,
    directory,
    suffixOf: (table) => SUFFIX[formatOf(table).kind],
    stage: (path, table, rows) => stageFile(path, rows, formatOf(table)),
  })

export interface FileSinkOptions {
  readonly name: string
  readonly directory: string
  readonly suffixOf: (table: string) => string
  /** Writes a file, which is on the disk when the promise is fulfilled; replaces an older one. */
  readonly stage: (path: string, table: string, rows: Relation) => Promise<StagedFile>
}

/** One file for each table of a partition, written by whatever is given. */
export const fileSink = ({ name, directory, suffixOf, stage }: FileSinkOptions): Sink => {
  const storage = storageOf(directory)
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
      const file = `${partition}.${suffixOf(table)}`
      const path = `${loadPath(table, opened())}/${file}`
      const from = staged(table, file)
      const { statistics, ...written } = await stage(from, table, rows)
      const entry = { table, path, ...written }
      await storage.keep(from, entry)
      return { table, rows: entry.rows, files: [entry], statistics }
    },

    async commit(files) {
      await storage.place(files.map(({ table, path }) => ({ from: staged(table, basename(path)), to: path })))
    },

    async abort() {
      if (run === undefined) return
      await removeStaged(inLake(directory, stagingPath(run)))
      for (const { name } of await storage.entries(''))
        if (!/^[._]/.test(name)) await storage.removeFolder(loadPath(name, run))
    },
  }
}

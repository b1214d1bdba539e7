/**
 * Files in a folder or bucket laid out as a lake: staged in `_runs/<run>/staging`, moved to `<table>/load=<run>/` on
 * commit. What a dead run leaves is in both places known as its own, so that gc of the lake's manifest removes it.
 */

import { basename, dirname, join } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import type { CopyFormat, Receipt, Sink, SinkRun, TableRows } from '../core/sink.ts'
import { ident, NO_FOLDER_COLUMNS, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { fetchFiles } from '../lake/files/fetch-tables.ts'
import { inLake, loadPath, stagingPath } from '../lake/files/layout.ts'
import { TABLES } from '../lake/tables/tables.ts'
import { storageOf } from '../storage/open-storage.ts'
import { makeFolders } from '../support/file-modes.ts'
import { statPath } from '../support/list-files.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { removeStaged, type StagedFile, stageFile } from './stage-file.ts'

export interface FolderSinkOptions {
  readonly name: string
  /** Folder for the files, made where it is missing, or `s3://bucket/prefix`. */
  readonly directory: string
  readonly formatOf: (table: string) => CopyFormat
  /** Whether a commit leaves the names of files to whoever lists them, who syncs each folder once. @default false */
  readonly leavesNames?: boolean | undefined
}

const SUFFIX: Readonly<Record<CopyFormat['kind'], string>> = {
  parquet: 'parquet',
  'json-lines': 'jsonl',
  csv: 'csv',
}

const suffixOf = (format: CopyFormat): string =>
  format.kind === 'csv' && format.gzip ? `${SUFFIX.csv}.gz` : SUFFIX[format.kind]

/** A sink with a file for each table of a partition, written by the engine. */
export const folderSink = ({ name, directory, formatOf, leavesNames }: FolderSinkOptions): Sink =>
  fileSink({
    name,
    directory,
    leavesNames,
    suffixOf: (table) => suffixOf(formatOf(table)),
    stage: (path, table, rows) => stageFile(path, rows, formatOf(table)),
    readFiles: (table, paths) => READERS[formatOf(table).kind](table, pathsSql(paths)),
  })

/** Columns as texts: a text that looks like a date must stay as it is. */
const textColumns = (table: string): string =>
  (TABLES.find(({ name }) => name === table)?.columns ?? [])
    .map(({ name }) => `${ident(name)}: 'VARCHAR'`)
    .join(', ')

const READERS: Readonly<Record<CopyFormat['kind'], (table: string, paths: string) => string>> = {
  parquet: (_, paths) => readParquet(paths, 'union_by_name = true'),
  'json-lines': (table, paths) =>
    `read_ndjson(${paths}, ${NO_FOLDER_COLUMNS}, columns = {${textColumns(table)}}, auto_detect = false, records = true)`,
  csv: (_, paths) => `read_csv(${paths}, ${NO_FOLDER_COLUMNS}, all_varchar = true, union_by_name = true)`,
}

export interface FileSinkOptions extends Pick<FolderSinkOptions, 'name' | 'directory' | 'leavesNames'> {
  readonly suffixOf: (table: string) => string
  /** Writes a file, which is on the disk when the promise is fulfilled; replaces an older one. */
  readonly stage: (path: string, table: string, rows: TableRows) => Promise<StagedFile>
  /** SQL behind FROM that reads files of a table; absent where the engine cannot. */
  readonly readFiles?: (table: string, paths: readonly string[]) => string
}

const LOOKS_AT_ONCE = 16

/** A sink with a file for each table of a partition, written by what is given. */
export const fileSink = ({ name, ...options }: FileSinkOptions): Sink => ({
  name,
  open: async (run) => openFileRun(run, options),
})

const openFileRun = (
  run: string,
  { directory, suffixOf, stage, readFiles, leavesNames = false }: Omit<FileSinkOptions, 'name'>,
): SinkRun => {
  const storage = storageOf(directory)
  const staging = inLake(directory, stagingPath(run))
  const staged = (table: string, file: string): string => join(staging, table, file)

  /** Staged files where they are, others at their final paths: a commit may have been interrupted halfway through. */
  const stagedRows = async (
    files: readonly FileEntry[],
    read: NonNullable<FileSinkOptions['readFiles']>,
  ): Promise<string> => {
    const found = await sideBySide(files, LOOKS_AT_ONCE, async (file) => {
      const path = staged(file.table, basename(file.path))
      return (await statPath(path)) ? { path } : { path: inLake(directory, file.path), placed: file }
    })
    await fetchFiles(
      directory,
      found.flatMap(({ placed }) => placed ?? []),
    )
    return read(
      files[0]?.table ?? '',
      found.map(({ path }) => path),
    )
  }

  const makeStaging = async (folder: string): Promise<void> => {
    try {
      await makeFolders(folder, { within: inLake(directory, '') })
    } catch (error) {
      throw writeError(`Cannot write "${folder}"`, error)
    }
  }
  /** Folders of staged files, each made once: to look at each of the folders above costs more than a small file. */
  const made = new Map<string, Promise<void>>()
  const stagingOf = (folder: string): Promise<void> => {
    const known = made.get(folder) ?? makeStaging(folder)
    made.set(folder, known)
    return known
  }

  return {
    ...(readFiles && { stagedRows: (files: readonly FileEntry[]) => stagedRows(files, readFiles) }),

    async write(partition, table, rows): Promise<Receipt> {
      const file = `${partition}.${suffixOf(table)}`
      const path = `${loadPath(table, run)}/${file}`
      const from = staged(table, file)
      await stagingOf(dirname(from))
      const { statistics, ...written } = await stage(from, table, rows)
      const entry = { table, path, ...written }
      await storage.stage(from, entry)
      return { table, rows: entry.rows, files: [entry], statistics }
    },

    async commit(files) {
      await storage.publish(
        files.map(({ table, path }) => ({ from: staged(table, basename(path)), to: path })),
      )
      if (!leavesNames) await storage.sync(files.map(({ path }) => path))
    },

    async abort() {
      await removeStaged(staging)
      for (const { name } of await storage.entries(''))
        if (!/^[._]/.test(name)) await storage.removeFolder(loadPath(name, run))
    },
  }
}

/** A sink whose rows are changed on their way. */
export const withRows = (
  sink: Sink,
  change: (rows: TableRows, table: string) => TableRows | Promise<TableRows>,
): Sink => ({
  ...sink,
  async open(run, lent) {
    const opened = await sink.open(run, lent)
    return {
      ...opened,
      write: async (partition, table, rows) => opened.write(partition, table, await change(rows, table)),
    }
  },
})

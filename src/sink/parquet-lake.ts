/** Parquet files in a lake's folder: written to the run's staging, moved to `<table>/load=<run>/` on commit. */

import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Receipt, Sink } from '../core/sink.ts'
import { inLake, loadPath, stagingPath } from '../lake/layout.ts'
import { QUARANTINE } from '../lake/tables.ts'
import { placeFiles } from './place-files.ts'
import { stageFile } from './stage-file.ts'

export interface ParquetLakeOptions {
  /** Folder of the lake. */
  readonly lake: string
}

/**
 * Distinct values up to which a column of the long tables is written as a dictionary. Far below DuckDB's
 * default of a fifth of a row group: figures hardly repeat, and giving up early saves a fifth of the writer's
 * time at the same size.
 */
const LONG_TABLES: Readonly<Record<string, number>> = { financials: 2000, employees: 2000 }

/** The lake itself as a sink. `quarantine` is written as JSON Lines, every other table as Parquet. */
export const parquetLake = ({ lake }: ParquetLakeOptions): Sink => {
  let run = ''
  const staged = (table: string, name: string): string => inLake(lake, `${stagingPath(run)}/${table}/${name}`)

  return {
    name: 'parquet-lake',

    async open(id) {
      run = id
    },

    async write(partition, table, rows): Promise<Receipt> {
      const isLines = table === QUARANTINE.name
      const name = `${partition}.${isLines ? 'jsonl' : 'parquet'}`
      const dictionaryLimit = LONG_TABLES[table]
      const { statistics, ...file } = await stageFile(
        staged(table, name),
        rows,
        isLines
          ? { kind: 'json-lines' }
          : { kind: 'parquet', ...(dictionaryLimit !== undefined && { dictionaryLimit }) },
      )
      const path = `${loadPath(table, run)}/${name}`
      return { table, rows: file.rows, files: [{ table, path, ...file }], statistics }
    },

    async commit(files) {
      await placeFiles(
        files.map(({ table, path }) => ({ from: staged(table, basename(path)), to: inLake(lake, path) })),
      )
    },

    async abort() {
      await rm(inLake(lake, stagingPath(run)), { recursive: true, force: true })
    },
  }
}

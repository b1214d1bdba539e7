/** Parquet files in a lake's folder: written to the run's staging, moved to `<table>/load=<run>/` on commit. */

import type { CopyFormat } from '../core/relation.ts'
import type { Sink } from '../core/sink.ts'
import { QUARANTINE } from '../lake/tables.ts'
import { folderSink } from './folder-sink.ts'

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

const formatOf = (table: string): CopyFormat => {
  if (table === QUARANTINE.name) return { kind: 'json-lines' }
  const dictionaryLimit = LONG_TABLES[table]
  return { kind: 'parquet', ...(dictionaryLimit !== undefined && { dictionaryLimit }) }
}

/** The lake itself as a sink. `quarantine` is written as JSON Lines, every other table as Parquet. */
export const parquetLake = ({ lake }: ParquetLakeOptions): Sink =>
  folderSink({ name: 'parquet-lake', directory: lake, formatOf })

/** The lake itself as a sink: Parquet files with field ids. */

import type { CopyFormat, Sink, TableRows } from '../core/sink.ts'
import { fieldIds } from '../lake/tables/field-ids.ts'
import { STORED_TABLES } from '../lake/tables/past-tables.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { folderSink, withRows } from './folder-sink.ts'
import { parquetForm } from './parquet.ts'

export interface ParquetLakeOptions {
  /** Folder of the lake. */
  readonly lake: string
}

/** Rows of relations are long: of a record that is read in place a whole row group is fetched. */
const TREE_TABLES: ReadonlySet<string> = new Set(['relations', 'relation_entities', 'ownerships', 'roles'])
const TREE_GROUP_ROWS = 8192

const formatOf = (table: string): CopyFormat => {
  if (table === QUARANTINE.name) return { kind: 'json-lines' }
  return { ...parquetForm(table), ...(TREE_TABLES.has(table) && { rowGroupRows: TREE_GROUP_ROWS }) }
}

const idsByTable = new Map<string, string | undefined>()

/** Field ids of a table's columns as declared: made once, their types are long. */
const declaredIds = (table: string): string | undefined => {
  if (!idsByTable.has(table)) {
    const columns = STORED_TABLES.find(({ name }) => name === table)?.columns ?? []
    idsByTable.set(table, fieldIds(table, columns))
  }
  return idsByTable.get(table)
}

const withIds = (format: CopyFormat, ids: string | undefined): CopyFormat =>
  format.kind === 'parquet' && ids !== undefined ? { ...format, fieldIds: ids } : format

/** Whether DuckDB refused, before it began, ids for columns that the rows do not have. */
const lacksColumns = (error: unknown): boolean =>
  error instanceof Error && /^Binder Error.*FIELD_IDS/s.test(error.message)

/**
 * Files are written with the field ids of their columns, by which Iceberg finds them. Rows have the columns of their
 * table; to look first would mean to plan each query twice, some 50 ms for each file of the wide tables.
 */
const withFieldIds = (table: string, rows: TableRows): TableRows => ({
  ...rows,
  copyTo: async (path, format) => {
    try {
      return await rows.copyTo(path, withIds(format, declaredIds(table)))
    } catch (error) {
      if (!lacksColumns(error)) throw error
      return rows.copyTo(path, withIds(format, fieldIds(table, await rows.columns())))
    }
  },
})

/** The lake itself as a sink. `quarantine` is written as JSON Lines, every other table as Parquet. */
export const parquetLake = ({ lake }: ParquetLakeOptions): Sink => {
  const sink = folderSink({ name: 'parquet-lake', directory: lake, formatOf, leavesNames: true })
  return withRows(sink, (rows, table) => withFieldIds(table, rows))
}

/** The tables of a snapshot with their row counts, as the manifest states them: no file of the lake is read or fetched. */

import type { Snapshot } from '../../core/partition.ts'
import { mainTables, TABLES, type Table } from '../tables/tables.ts'

export interface ListedTable {
  readonly table: Table
  /** Rows of the current versions; `null` where several partitions may hold versions of one record. */
  readonly rows: number | null
  /** Rows of all versions. */
  readonly historyRows: number
}

/** Rows of a table in each partition that has any; the files of runs count as one each. */
const rowsByVersion = ({ partitions, files }: Snapshot, table: string): readonly number[] =>
  [...partitions.map((partition) => partition.files), ...files.map((file) => [file])]
    .map((own) => own.reduce((sum, file) => sum + (file.table === table ? file.rows : 0), 0))
    .filter((rows) => rows > 0)

/** Whether nothing of a table can be superseded: its records stand in one partition. */
const isSingle = (snapshot: Snapshot, { name, content }: Table): boolean => {
  const main = content === undefined ? name : mainTables().find((one) => one.content === content)?.name
  return rowsByVersion(snapshot, main ?? name).length < 2
}

export const listTables = (snapshot: Snapshot): readonly ListedTable[] =>
  TABLES.map((table) => {
    const historyRows = rowsByVersion(snapshot, table.name).reduce((sum, rows) => sum + rows, 0)
    return { table, rows: isSingle(snapshot, table) ? historyRows : null, historyRows }
  })

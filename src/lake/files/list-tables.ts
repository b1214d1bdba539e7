/** The tables of a snapshot with their row counts, as the manifest states them: no file of the lake is read or fetched. */

import { mainTables, TABLES, type Table } from '../tables/tables.ts'

export interface ListedTable {
  readonly table: Table
  /** Rows of the current versions; `null` where several partitions may hold versions of one record. */
  readonly rows: number | null
  /** Rows of all versions. */
  readonly historyRows: number
}

/**
 * @param historyRows rows of all versions of a table
 * @param isSingle whether all rows of a table came with one partition, or with one run: nothing of it is superseded then
 */
export const listTables = async (
  historyRows: (table: string) => number,
  isSingle: (table: Table) => Promise<boolean>,
): Promise<readonly ListedTable[]> => {
  const single = new Map<string, boolean>()
  const listed: ListedTable[] = []
  for (const table of TABLES) {
    const main = mainTables().find(({ content }) => content === table.content) ?? table
    const rows = historyRows(table.name)
    const alone = single.get(main.name) ?? (await isSingle(main))
    single.set(main.name, alone)
    listed.push({ table, rows: alone ? rows : null, historyRows: rows })
  }
  return listed
}

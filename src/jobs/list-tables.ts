/** The tables of a snapshot and how many rows they have, by its manifest: no row is read for it. */

import type { ComputedColumn } from '../lake/projection/computed-columns.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'
import { computedOfLake } from '../manifest/form/projections.ts'
import { type ChosenSnapshot, readChosenRoot } from '../manifest/snapshots/held.ts'
import { rowsByManifest } from './current-rows.ts'

export interface ListedTable {
  readonly table: Table
  /** Rows of the current versions; `null` where rows would have to be read to count them. */
  readonly rows: number | null
  /** Rows of all versions. */
  readonly historyRows: number
}

/** The tables of one snapshot. */
export interface LakeTables {
  readonly snapshot: number
  readonly tables: readonly ListedTable[]
  /** Further columns of the tables, as the lake declares them. */
  readonly computed: readonly ComputedColumn[]
}

/** @param chosen @default the newest @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const listLakeTables = async (lake: string, chosen: ChosenSnapshot = {}): Promise<LakeTables> => {
  const root = await readChosenRoot(lake, chosen)
  const counted = rowsByManifest(root)
  const tables = TABLES.flatMap((table) => {
    const found = counted.find((one) => one.table === table.name)
    return found === undefined ? [] : [{ table, rows: found.rows, historyRows: found.versions }]
  })
  return { snapshot: root.snapshot, tables, computed: await computedOfLake(root) }
}

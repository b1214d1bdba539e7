/** The tables of a snapshot by its manifest: nothing of a lake in a bucket is fetched for it. */

import type { ComputedColumn } from '../../lake/projection/computed-columns.ts'
import { type ListedTable, listTables } from '../../lake/tables/tables.ts'
import { computedOfLake } from '../../manifest/form/projections.ts'
import { isOfOnePartition } from '../../manifest/snapshots/snapshot-root.ts'
import { readRoot } from '../../manifest/snapshots/snapshots.ts'

/** The tables of one snapshot. */
export interface LakeTables {
  readonly snapshot: number
  readonly tables: readonly ListedTable[]
  /** Further columns of the tables, as the lake declares them. */
  readonly computed: readonly ComputedColumn[]
}

/** @param snapshot @default the newest @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const listLakeTables = async (lake: string, snapshot?: number): Promise<LakeTables> => {
  const root = await readRoot(lake, snapshot)
  const tables = await listTables(
    (name) => root.totals.tables.find(({ table }) => table === name)?.rows ?? 0,
    (table) => isOfOnePartition(lake, root, table),
  )
  return { snapshot: root.snapshot, tables, computed: await computedOfLake(root) }
}

/** Where a table's metadata is kept: in the lake itself, or by a catalog. */

import type { Table } from '../../lake/tables/tables.ts'
import type { PublishedRows } from '../published-rows.ts'
import type { TableLayout } from './table-layout.ts'
import type { TableMetadata, TableUpdate } from './table-metadata.ts'

/** A table as it was found, for a change to be made on top of it. */
export interface TableBase {
  /** `null` of a table that is to be made. */
  readonly metadata: TableMetadata | null
  /** Number of the metadata file that was found, 0 where there is none. */
  readonly number: number
  /** Whether a table is to be made again because the one found was published where the lake stood before. */
  readonly moved: boolean
}

export type TableCommitOutcome =
  | { readonly kind: 'committed'; readonly base: TableBase }
  /** Someone else changed the table first, and it stands there now. */
  | { readonly kind: 'lost'; readonly base: TableBase }

export interface TableStore {
  /** Where it has a table, or would have it. */
  readonly layoutOf: (table: Table, rows: PublishedRows) => TableLayout
  /** Whether it has the table, for this lake. */
  readonly has: (layout: TableLayout) => Promise<boolean>
  /** @throws {ToolkitError} `PUBLISH_CONFLICT` where someone else has made or changed the table */
  readonly open: (layout: TableLayout) => Promise<TableBase>
  /** Takes a table away from where others find it; absent where its files are all there is of it. */
  readonly drop?: (layout: TableLayout) => Promise<void>
  /** Makes a change visible, all of it or nothing. */
  readonly commit: (layout: TableLayout, base: TableBase, change: TableUpdate) => Promise<TableCommitOutcome>
}

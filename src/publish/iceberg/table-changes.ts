/** What a snapshot of the lake changes in a published table; how it is found out differs by the rows that it has. */

import type { Storage } from '../../storage/storage.ts'
import type { ShownSnapshot } from '../listed-table.ts'
import type { PublishContext, SnapshotToPublish, TableChange } from '../publication.ts'
import type { ManifestFileRecord } from './manifest-schemas.ts'
import type { EntryChanges } from './next-snapshot.ts'
import type { TableLayout } from './table-layout.ts'

/** A published table as it is. */
export interface TableState {
  readonly context: PublishContext
  readonly storage: Storage
  readonly layout: TableLayout
  /** The manifests that name its files. */
  readonly manifests: readonly ManifestFileRecord[]
  readonly shown: ShownSnapshot | null
}

export interface IcebergChanges extends TableChange {
  readonly data: EntryChanges
  readonly deletes?: EntryChanges
  /** Whether a snapshot is written although nothing changes, so that the table shows the lake's newest. */
  readonly always?: boolean
  /** Paths in the lake of files that were written for it. */
  readonly written: readonly string[]
}

export type FindChanges = (state: TableState, snapshot: SnapshotToPublish) => Promise<IcebergChanges>

/** What a snapshot of the lake changes in a Delta table; how it is found out differs by the rows that it has. */

import type { Table } from '../../lake/tables/tables.ts'
import type { PublishContext, SnapshotToPublish } from '../publication.ts'
import type { AddedFile } from './actions.ts'
import type { DeltaLog } from './delta-log.ts'
import type { LoggedFile } from './log-form.ts'

/** A file that is gone from a table. */
export interface RemovedFile {
  readonly name: string
  readonly file: LoggedFile
}

export interface DeltaChanges {
  /** Files that come, and how many they are. A file whose version changed is only added: the log's newest word on a path counts. */
  readonly files: AsyncIterable<AddedFile> | Iterable<AddedFile>
  readonly added: number
  readonly removed: readonly RemovedFile[]
  /** Whether a version is written although nothing changes, so that the table shows the lake's newest snapshot. */
  readonly always?: boolean
  /** Paths in the lake of files that were written for it. */
  readonly written: readonly string[]
}

/** A published table as it is. */
export interface TableState {
  readonly context: PublishContext
  readonly table: Table
  readonly log: DeltaLog
}

export type FindChanges = (state: TableState, snapshot: SnapshotToPublish) => Promise<DeltaChanges>

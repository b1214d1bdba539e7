/** The changes that a snapshot of the lake makes in a Delta table: in one of all versions files, each of them whole. */

import type { Table } from '../../lake/tables/tables.ts'
import { measureFiles } from '../file-statistics.ts'
import type { PublishContext, SnapshotToPublish } from '../publication.ts'
import type { TableFile } from '../table-files.ts'
import { type AddedFile, addedFile } from './actions.ts'
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
  /** Whether the table has other rows then. @default true */
  readonly changesRows?: boolean
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

interface Difference {
  readonly added: readonly TableFile[]
  readonly removed: readonly RemovedFile[]
  /** Whether the table has other rows then. @default true */
  readonly changesRows?: boolean
}

/** Compares all that the log says with all that the snapshot lists. */
const compareAll = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const [logged, files] = [await log.files(), await snapshot.files()]
  const names = new Set(files.map(({ name }) => name))
  return {
    added: files.filter(({ name }) => !logged.has(name)),
    removed: [...logged].flatMap(([name, file]) => (names.has(name) ? [] : [{ name, file }])),
  }
}

/** Compares the parts of the manifest that differ, where the snapshot that the log shows is kept. */
const differenceOf = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const changes = log.shown && (await snapshot.changesSince(log.shown))
  if (!changes) return compareAll(log, snapshot)
  const { added, removed } = changes
  return { added, removed: removed.map((file) => ({ name: file.name, file })) }
}

async function* withStatistics(
  { context, table }: TableState,
  added: readonly TableFile[],
): AsyncGenerator<AddedFile> {
  for await (const measured of measureFiles(context, table, added)) yield addedFile(measured)
}

export const historyChanges: FindChanges = async (state, snapshot) => {
  const { added, removed } = await differenceOf(state.log, snapshot)
  return { files: withStatistics(state, added), added: added.length, removed, written: [] }
}

/** What a snapshot of the lake changes in a table of all versions: files, each of them whole. */

import { measureFiles } from '../file-statistics.ts'
import type { SnapshotToPublish } from '../publication.ts'
import type { TableFile } from '../table-files.ts'
import { type AddedFile, addedFile } from './actions.ts'
import type { DeltaLog } from './delta-log.ts'
import type { FindChanges, RemovedFile, TableState } from './table-changes.ts'

interface Difference {
  readonly added: readonly TableFile[]
  readonly removed: readonly RemovedFile[]
}

/** By all that the log says and all that the snapshot lists. */
const compareAll = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const [logged, files] = [await log.files(), await snapshot.files()]
  const names = new Set(files.map(({ name }) => name))
  return {
    added: files.filter(({ name }) => !logged.has(name)),
    removed: [...logged].flatMap(([name, file]) => (names.has(name) ? [] : [{ name, file }])),
  }
}

/** By the parts of the manifest that differ, where the snapshot that the log shows is kept. */
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

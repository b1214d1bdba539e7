/** What a snapshot of the lake changes in a table of all versions: files, each of them whole. */

import { measureAll } from '../file-statistics.ts'
import type { SnapshotToPublish } from '../publication.ts'
import { dataFiles, differenceOf, type FileDifference } from './data-files.ts'
import { absolutePath } from './lake-paths.ts'
import { type LiveFile, type LiveFiles, readLiveFiles } from './live-files.ts'
import type { FindChanges, TableState } from './table-changes.ts'
import { conflict } from './table-metadata.ts'

const standing = ({ storage, layout }: TableState, live: LiveFiles, path: string): LiveFile => {
  const absolute = absolutePath(storage, path)
  const file = live.get(absolute)
  if (file) return file
  throw conflict(layout.root, `its metadata does not name "${absolute}", which was published`)
}

/** The table's files are read only where some of them go or change. */
const difference = async (
  state: TableState,
  snapshot: SnapshotToPublish,
): Promise<FileDifference & { readonly live: LiveFiles }> => {
  const { storage, layout, manifests, shown, hasEarlierPartitions } = state
  const changes = shown && !hasEarlierPartitions && (await snapshot.changesSince(shown))
  if (changes && changes.moved.length + changes.removed.length === 0)
    return { added: changes.added, removed: [], live: new Map() }
  const live = await readLiveFiles(storage, layout.root, manifests)
  if (hasEarlierPartitions) return { added: await snapshot.files(), removed: [...live.values()], live }
  if (!changes) return { ...differenceOf(storage, live, await snapshot.files()), live }
  const removed = [...changes.removed, ...changes.moved].map(({ path }) => standing(state, live, path))
  return { added: changes.added, removed, live }
}

export const historyChanges: FindChanges = async (state, snapshot) => {
  const { storage, layout, context } = state
  const { added, removed, live } = await difference(state, snapshot)
  return {
    added: added.length,
    removed: removed.length,
    data: {
      added: dataFiles(
        { storage, layout, live, measure: (files) => measureAll(context, layout.table, files) },
        added,
      ),
      removed,
    },
    written: [],
  }
}

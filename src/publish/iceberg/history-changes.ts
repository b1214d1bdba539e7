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
const difference = async (state: TableState, snapshot: SnapshotToPublish): Promise<FileDifference> => {
  const { storage, layout, manifests, shown } = state
  const changes = shown && (await snapshot.changesSince(shown))
  if (changes && changes.removed.length === 0) return { added: changes.added, removed: [] }
  const live = await readLiveFiles(storage, layout.root, manifests)
  if (!changes) return differenceOf(storage, live, await snapshot.files())
  const removed = changes.removed.map(({ path }) => standing(state, live, path))
  return { added: changes.added, removed }
}

export const historyChanges: FindChanges = async (state, snapshot) => {
  const { storage, layout, context } = state
  const { added, removed } = await difference(state, snapshot)
  return {
    added: added.length,
    removed: removed.length,
    data: {
      added: dataFiles(
        { storage, layout, measure: (files) => measureAll(context, layout.table, files) },
        added,
      ),
      removed,
    },
    written: [],
  }
}

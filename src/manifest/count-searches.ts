/**
 * Lists of a snapshot whose searches say of persons' numbers only how many there were. Earlier releases kept a hash of each,
 * which whoever tries all birthdays can read back: the next commit on such a snapshot writes them anew.
 */

import { freshParts } from './extend-list.ts'
import { entriesOf, type ListName, type Lists, type Part } from './parts.ts'
import { recordedPartition, recordedPull } from './recorded-search.ts'
import type { SnapshotRoot } from './snapshot-root.ts'

/** A list as it stands, or of new entries where one has to change. */
const recordedList = async <Name extends ListName>(
  lake: string,
  name: Name,
  parts: readonly Part<Lists[Name]>[],
  record: (entry: Lists[Name]) => Lists[Name],
): Promise<readonly Part<Lists[Name]>[]> => {
  const recorded: Lists[Name][] = []
  let isSame = true
  for await (const { entries } of entriesOf(lake, name, parts))
    for (const entry of entries) {
      const next = record(entry)
      isSame &&= next === entry
      recorded.push(next)
    }
  return isSame ? parts : freshParts(name, recorded)
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const withCountedSearches = async (lake: string, root: SnapshotRoot): Promise<SnapshotRoot> => {
  if (root.searches === 'counted') return root
  const { lists } = root
  return {
    ...root,
    lists: {
      ...lists,
      partitions: await recordedList(lake, 'partitions', lists.partitions, recordedPartition),
      pulls: await recordedList(lake, 'pulls', lists.pulls, recordedPull),
      merged: await recordedList(lake, 'merged', lists.merged, recordedPartition),
    },
  }
}

/**
 * Lists of a snapshot as this release records them. Of persons' numbers in searches earlier releases kept a hash each,
 * which whoever tries all birthdays can read back, and no partition had a number: the next commit on such a snapshot
 * writes its lists anew.
 */

import { freshParts } from './extend-list.ts'
import type { ListName, Lists, Part } from './parts.ts'
import { recordedPartition, recordedPull } from './recorded-search.ts'
import { listOf, type SnapshotRoot } from './snapshot-root.ts'
import { isNumbered, numberListed } from './version-numbers.ts'

/** The list as it stands where none of its entries has changed. */
const listFrom = <Name extends ListName>(
  name: Name,
  parts: readonly Part<Lists[Name]>[],
  before: readonly Lists[Name][],
  entries: readonly Lists[Name][],
): readonly Part<Lists[Name]>[] =>
  entries.every((entry, at) => entry === before[at]) ? parts : freshParts(name, entries)

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const inCurrentForm = async (lake: string, root: SnapshotRoot): Promise<SnapshotRoot> => {
  if (root.searches === 'counted' && isNumbered(root)) return root
  const { lists } = root
  const [partitions, files] = [await listOf(lake, root, 'partitions'), await listOf(lake, root, 'files')]
  const [pulls, merged] = [await listOf(lake, root, 'pulls'), await listOf(lake, root, 'merged')]
  const recorded = partitions.map(recordedPartition)
  const { nextVersion, ...numbered } = isNumbered(root)
    ? { nextVersion: root.nextVersion, partitions: recorded, files }
    : numberListed({ partitions: recorded, files })
  return {
    ...root,
    nextVersion,
    lists: {
      partitions: listFrom('partitions', lists.partitions, partitions, numbered.partitions),
      files: listFrom('files', lists.files, files, numbered.files),
      pulls: listFrom('pulls', lists.pulls, pulls, pulls.map(recordedPull)),
      merged: listFrom('merged', lists.merged, merged, merged.map(recordedPartition)),
    },
  }
}

/** Walks over the entries of snapshots from the newest one back: a part that was seen is not read again. Holds one part at a time. */

import type { FileEntry } from '../../core/partition.ts'
import { type ListName, type Lists, type Part, readBelow, readEntries } from './parts.ts'
import type { SnapshotRoot } from './snapshot-root.ts'

/** Entries of a list that stand in one part. */
export type ListedEntries = {
  readonly [Name in ListName]: { readonly list: Name; readonly entries: readonly Lists[Name][] }
}[ListName]

/** The files that entries list. */
export const filesIn = ({ list, entries }: ListedEntries): readonly FileEntry[] => {
  if (list === 'files') return entries
  return list === 'pulls' || list === 'checks' ? [] : entries.flatMap(({ files }) => files)
}

/** Entries below some parts that `seen` has not. */
async function* unseenBelow<Name extends ListName>(
  lake: string,
  list: Name,
  parts: readonly Part[],
  seen: Set<string>,
): AsyncGenerator<readonly Lists[Name][]> {
  for (const part of parts) {
    if (seen.has(part.ref.name)) continue
    seen.add(part.ref.name)
    if (part.ref.level > 0) yield* unseenBelow(lake, list, await readBelow(lake, part), seen)
    else yield await readEntries(lake, list, part)
  }
}

/** The entries that a snapshot lists in parts that `seen` has not. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export async function* unseenEntries(
  lake: string,
  { lists, versions }: SnapshotRoot,
  seen: Set<string>,
): AsyncGenerator<ListedEntries> {
  for (const { name } of versions) seen.add(name)
  for (const list of ['merged', 'partitions'] as const)
    for await (const entries of unseenBelow(lake, list, lists[list], seen)) yield { list, entries }
  for await (const entries of unseenBelow(lake, 'files', lists.files, seen)) yield { list: 'files', entries }
  for await (const entries of unseenBelow(lake, 'pulls', lists.pulls, seen)) yield { list: 'pulls', entries }
  for await (const entries of unseenBelow(lake, 'checks', lists.checks, seen))
    yield { list: 'checks', entries }
}

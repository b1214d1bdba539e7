/** What snapshots list, from the newest one back: a part that was seen is not opened again. Holds a part at a time. */

import type { FileEntry } from '../../core/partition.ts'
import { isLoaded, namedSources } from '../form/loaded-sources.ts'
import { type ListName, type Lists, type Part, readBelow, readEntries } from '../parts/parts.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'
import type { ListedEntries } from './part-checker.ts'

/** The files that entries list. */
export const filesIn = ({ list, entries }: ListedEntries): readonly FileEntry[] => {
  if (list === 'files') return entries
  return list === 'pulls' ? [] : entries.flatMap(({ files }) => files)
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

/** All that a snapshot lists in parts that `seen` has not. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export async function* unseenEntries(
  lake: string,
  { lists }: SnapshotRoot,
  seen: Set<string>,
): AsyncGenerator<ListedEntries> {
  for (const list of ['merged', 'partitions'] as const)
    for await (const entries of unseenBelow(lake, list, lists[list], seen)) yield { list, entries }
  for await (const entries of unseenBelow(lake, 'files', lists.files, seen)) yield { list: 'files', entries }
  for await (const entries of unseenBelow(lake, 'pulls', lists.pulls, seen)) yield { list: 'pulls', entries }
}

/** @returns whether it was not there */
const addNew = (texts: Set<string>, text: string): boolean => {
  const before = texts.size
  return texts.add(text).size > before
}

/** Runs and sources of a snapshot: what its totals say of them is no sum over parts. */
export class DistinctTotals {
  readonly #runs = new Set<string>()
  readonly #sources = new Set<string>()
  readonly #named = new Set<string>()
  readonly #counts = new Map<string, { sources: number; sourceBytes: number }>()

  add({ list, entries }: ListedEntries): void {
    for (const { run } of entries) this.#runs.add(run)
    if (list !== 'partitions' && list !== 'merged') return
    for (const partition of entries) {
      const { run, content } = partition
      if (!isLoaded(partition)) continue
      const counts = this.#counts.get(content) ?? { sources: 0, sourceBytes: 0 }
      this.#counts.set(content, counts)
      for (const [name, { bytes }] of namedSources(partition)) {
        if (addNew(this.#sources, `${content} ${name}`)) counts.sources += 1
        if (addNew(this.#named, `${content} ${run} ${name}`)) counts.sourceBytes += bytes
      }
    }
  }

  /** Whether these are the runs and sources of a snapshot. */
  areOf({ totals }: SnapshotRoot): boolean {
    return (
      totals.runs === this.#runs.size &&
      totals.contents.every(({ content, sources, sourceBytes }) => {
        const own = this.#counts.get(content)
        return own?.sources === sources && own.sourceBytes === sourceBytes
      })
    )
  }
}

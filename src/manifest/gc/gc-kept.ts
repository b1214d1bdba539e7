/** The files that gc must keep: all those that the kept snapshots list. Reads a part at a time. */

import type { PartitionEntry } from '../../core/partition.ts'
import { forgottenBefore } from '../form/forgotten.ts'
import { type ListName, type Lists, type Part, readBelow, readEntries } from '../snapshots/parts.ts'
import { listManifest, newestNumber, readKnownRoot } from '../snapshots/snapshots.ts'

export interface Kept {
  readonly first: number
  readonly newest: number
  /** Paths of data files. */
  readonly paths: ReadonlySet<string>
  /** Names of parts. */
  readonly parts: ReadonlySet<string>
  /** The snapshot of each run. */
  readonly commits: ReadonlyMap<string, number>
}

interface Seen {
  readonly paths: Set<string>
  readonly parts: Set<string>
}

/** Takes in what parts list; what an earlier snapshot lists too is not read again. */
const readList = async <Name extends ListName>(
  lake: string,
  name: Name,
  parts: readonly Part[],
  pathsOf: (entry: Lists[Name]) => readonly string[],
  seen: Seen,
): Promise<void> => {
  for (const part of parts) {
    if (seen.parts.has(part.ref.name)) continue
    seen.parts.add(part.ref.name)
    if (part.ref.level > 0) {
      await readList(lake, name, await readBelow(lake, part), pathsOf, seen)
      continue
    }
    for (const entry of await readEntries(lake, name, part))
      for (const path of pathsOf(entry)) seen.paths.add(path)
  }
}

const filesOf = ({ files }: PartitionEntry): readonly string[] => files.map(({ path }) => path)

export interface KeptRequest {
  readonly lake: string
  readonly keep?: number | undefined
  readonly keepFrom?: number | undefined
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED` when a snapshot that is to be kept, or a part of it, is damaged or missing */
export const readKept = async ({ lake, keep, keepFrom = Infinity }: KeptRequest): Promise<Kept> => {
  const newest = await newestNumber(lake)
  const { oldest } = await listManifest(lake)
  // A forget that was killed after its commit left older snapshots behind.
  const least = newest === 0 ? oldest : Math.max(oldest, forgottenBefore(await readKnownRoot(lake, newest)))
  const first = keep === undefined ? least : Math.max(least, Math.min(newest - keep + 1, keepFrom))
  const seen: Seen = { paths: new Set(), parts: new Set() }
  const commits = new Map<string, number>()
  for (let number = first; number <= newest; number += 1) {
    // Also a missing one stops gc here: what only it lists must not be taken for garbage.
    const { lists, run } = await readKnownRoot(lake, number)
    await readList(lake, 'partitions', lists.partitions, filesOf, seen)
    await readList(lake, 'merged', lists.merged, filesOf, seen)
    await readList(lake, 'files', lists.files, ({ path }) => [path], seen)
    await readList(lake, 'pulls', lists.pulls, () => [], seen)
    commits.set(run, number)
  }
  return { first, newest, ...seen, commits }
}

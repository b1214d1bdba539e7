/** The files that gc must keep: all those that the kept snapshots list. Reads a part at a time. */

import { forgottenBefore } from '../form/forgotten.ts'
import { readHeld } from '../snapshots/held.ts'
import { filesIn, unseenEntries } from '../snapshots/listed-entries.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'
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

interface KeptRequest {
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
  const paths = new Set<string>()
  const parts = new Set<string>()
  const commits = new Map<string, number>()
  const keepFilesOf = async (root: SnapshotRoot): Promise<void> => {
    for await (const listed of unseenEntries(lake, root, parts))
      for (const { path } of filesIn(listed)) paths.add(path)
  }
  for (let number = first; number <= newest; number += 1) {
    // Also a missing one stops gc here: what only it lists must not be taken for garbage.
    const root = await readKnownRoot(lake, number)
    await keepFilesOf(root)
    commits.set(root.run, number)
  }
  const held = await readHeld(lake)
  if (held) await keepFilesOf(held.root)
  return { first, newest, paths, parts, commits }
}

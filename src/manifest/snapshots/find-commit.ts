/** Whether a run is in the lake already. */

import { mayHoldRun } from '../form/part-summary.ts'
import { entriesOf, LIST_NAMES, type ListName } from '../parts/parts.ts'
import type { SnapshotRoot } from './snapshot-root.ts'
import { listManifest, readKnownRoot } from './snapshots.ts'

const listHolds = async <Name extends ListName>(
  lake: string,
  { lists }: SnapshotRoot,
  name: Name,
  run: string,
): Promise<boolean> => {
  for await (const { entries } of entriesOf(lake, name, lists[name], mayHoldRun(run)))
    if (entries.some((entry) => entry.run === run)) return true
  return false
}

/** Whether a snapshot lists anything of a run, or says that the run has forgotten something. */
export const holdsRun = async (lake: string, root: SnapshotRoot, run: string): Promise<boolean> => {
  if (root.forgotten?.some((receipt) => receipt.run === run)) return true
  for (const name of LIST_NAMES) if (await listHolds(lake, root, name, run)) return true
  return false
}

/**
 * The snapshot that a run's commit made. `base` is the newest snapshot from before the run: only later ones
 * are read, from `newest` down. `null` when the run is not committed.
 *
 * @throws {ToolkitError} `SNAPSHOT_DAMAGED`
 */
export const findCommit = async (
  lake: string,
  run: string,
  base: number,
  newest: SnapshotRoot | null,
): Promise<SnapshotRoot | null> => {
  if (!newest || newest.run === run) return newest
  const { oldest } = await listManifest(lake)
  for (let number = newest.snapshot - 1; number > base && number >= oldest; number -= 1) {
    const root = await readKnownRoot(lake, number)
    if (root.run === run) return root
  }
  // Its own snapshot may have been removed by gc: then the newest one shows what it left.
  if (oldest <= base + 1) return null
  return (await holdsRun(lake, newest, run)) ? newest : null
}

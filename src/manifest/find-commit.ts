/** Whether a run is in the lake already. */

import type { Snapshot } from '../core/partition.ts'
import { listManifest, readKnownSnapshot } from './snapshots.ts'

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
  newest: Snapshot | null,
): Promise<Snapshot | null> => {
  if (!newest || newest.run === run) return newest
  const { oldest } = await listManifest(lake)
  for (let number = newest.snapshot - 1; number > base && number >= oldest; number -= 1) {
    const snapshot = await readKnownSnapshot(lake, number)
    if (snapshot.run === run) return snapshot
  }
  // Its own snapshot may have been removed by gc: then the newest one shows what it left.
  const entries = [...newest.partitions, ...(newest.merged ?? []), ...newest.files, ...(newest.pulls ?? [])]
  return entries.some((entry) => entry.run === run) ? newest : null
}

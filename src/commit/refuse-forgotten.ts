/** A run that began before a forget may hold what was forgotten: it is not committed, and nothing of it stays. */

import { ToolkitError } from '../core/errors.ts'
import { forgottenBefore } from '../manifest/form/forgotten.ts'
import type { SeenRun } from '../manifest/runs/run-lease.ts'
import { removeRunFolder } from '../manifest/runs/runs.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { discardLoaded } from './confirm-files.ts'

/**
 * Removes such a run with all that it has loaded.
 *
 * @param newest the snapshot that it would be committed on
 * @throws {ToolkitError} `COMMIT_CONFLICT` of such a run
 */
export const refuseForgotten = async (
  { lake, run, base }: SeenRun,
  newest: SnapshotRoot | null,
): Promise<void> => {
  const snapshot = newest === null ? 0 : forgottenBefore(newest)
  if (snapshot <= base) return
  await discardLoaded(lake, run)
  await removeRunFolder(lake, run)
  throw new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot commit run "${run}": it began before snapshot ${snapshot}, which has forgotten companies or persons, and may hold them; run the same command again`,
    { run, snapshot },
  )
}

/** The run of a compaction: dead ones are removed before, and a failed one leaves the lake as it was. */

import { rm } from 'node:fs/promises'
import { ToolkitError } from '../../core/errors.ts'
import { inLake, loadPath, runPath } from '../../lake/lake/layout.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import { findCommit } from '../../manifest/find-commit.ts'
import { listLeftovers } from '../../manifest/lake-files.ts'
import { leaseRun, type RunLease, releaseRun } from '../../manifest/run-lease.ts'
import { listRunIds, readPlan, removeCommittedRun, removeRun } from '../../manifest/runs.ts'
import { newestSnapshot } from '../../manifest/snapshots.ts'
import { storageOf } from '../../storage/open-storage.ts'

/** Name of the pipeline in its runs' plans and snapshots. */
export const COMPACT_PIPELINE = 'compact'

/** Where DuckDB sorts: in the run's folder, so that gc removes it with the run. */
export const spillFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/spill`)

/** Removes all that a run which is not committed has written. */
const discardRun = async (lease: RunLease): Promise<void> => {
  const { lake, run } = lease
  await rm(spillFolder(lease), { recursive: true, force: true })
  for (const { name } of TABLES) {
    const placed = await storageOf(lake).list(loadPath(name, run))
    if (placed.length > 0) await storageOf(lake).remove(placed.map(({ path }) => path))
  }
  await removeRun(lease)
}

const isCompaction = (plan: unknown): boolean =>
  typeof plan === 'object' && plan !== null && 'pipeline' in plan && plan.pipeline === COMPACT_PIPELINE

const isTaken = (error: unknown): boolean =>
  error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND')

/** Removes compactions whose process is gone: none of them is resumed, the lake may have changed meanwhile. */
export const clearDeadCompactions = async (lake: string, now: Date): Promise<void> => {
  for (const run of await listRunIds(lake)) {
    if (!isCompaction(await readPlan(lake, run).catch(() => undefined))) continue
    try {
      const lease = await leaseRun(lake, run, { now })
      // Not before the run is ours: until then it may commit, and its files be the lake's.
      const commit = await findCommit(lake, run, lease.base, await newestSnapshot(lake))
      await (commit === null ? discardRun(lease) : removeCommittedRun(lease, commit.snapshot))
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
  // Unfinished writes too, and a run that was killed while its folder was removed: it has another name already.
  for (const { path } of await listLeftovers(lake, { now }))
    await rm(inLake(lake, path), { recursive: true, force: true })
}

/** A bucket that did not answer may still carry out the request. */
const isUncertain = (failure: unknown): boolean =>
  failure instanceof ToolkitError && failure.code === 'STORAGE_FAILED'

/**
 * Ends a compaction that failed. Where its snapshot exists already, or that is unknown, nothing is removed:
 * gc or the next compaction finishes it.
 */
export const giveUpCompaction = async (lease: RunLease, failure: unknown): Promise<void> => {
  const { lake, run, base } = lease
  try {
    if (isUncertain(failure)) return await releaseRun(lease)
    const commit = await findCommit(lake, run, base, await newestSnapshot(lake))
    await (commit === null ? discardRun(lease) : releaseRun(lease))
  } catch {
    await releaseRun(lease).catch(() => undefined)
  }
}

/** The run of a compaction: dead ones are removed before, and a failed one leaves the lake as it was. */

import { rm } from 'node:fs/promises'
import { ToolkitError } from '../../core/errors.ts'
import { inLake, loadPath, PARTS_FOLDER, partPath, runOfPart, runPath } from '../../lake/lake/layout.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import { findCommit } from '../../manifest/find-commit.ts'
import { listLeftovers } from '../../manifest/lake-files.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { listRunIds, readPlan } from '../../manifest/runs.ts'
import { ensureRecord, newestRoot } from '../../manifest/snapshots.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { memberOf } from '../../support/json-form.ts'
import { withResumedRun } from '../run/with-run.ts'

/** Where DuckDB sorts: in the run's folder, so that gc removes it with the run. */
export const spillFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/spill`)

/** Removes the files that a run which is not committed has put into their places, and its parts of a snapshot. */
const discardPlaced = async ({ lake, run }: RunLease): Promise<void> => {
  const storage = storageOf(lake)
  for (const { name } of TABLES) {
    const placed = await storage.list(loadPath(name, run))
    if (placed.length > 0) await storage.remove(placed.map(({ path }) => path))
  }
  const parts = (await storage.entries(PARTS_FOLDER)).filter(({ name }) => runOfPart(name) === run)
  if (parts.length > 0) await storage.remove(parts.map(({ name }) => partPath(name)))
}

const isCompaction = async (lake: string, run: string): Promise<boolean> =>
  memberOf(await readPlan(lake, run).catch(() => undefined), 'pipeline') === 'compact'

const isTaken = (error: unknown): boolean =>
  error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND')

/** Removes compactions whose process is gone: none of them is resumed, the lake may have changed meanwhile. */
export const clearDeadCompactions = async (lake: string, now: Date): Promise<void> => {
  for (const run of await listRunIds(lake)) {
    if (!(await isCompaction(lake, run))) continue
    try {
      await withResumedRun(lake, run, now, async (own) => {
        // Not before the run is ours: until then it may commit, and its files be the lake's.
        const commit = await findCommit(lake, run, own.base, await newestRoot(lake))
        await (commit === null ? discardPlaced(own) : ensureRecord(lake, commit.snapshot))
      })
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
 * Removes the files that a failed compaction has placed. Where its snapshot exists already, or that is unknown,
 * nothing is removed: gc or the next compaction finishes it.
 *
 * @returns whether nothing of it is left in the lake
 */
export const undoCompaction = async (lease: RunLease, failure: unknown): Promise<boolean> => {
  const { lake, run, base } = lease
  try {
    if (isUncertain(failure)) return false
    if ((await findCommit(lake, run, base, await newestRoot(lake))) !== null) return false
    await discardPlaced(lease)
    return true
  } catch {
    return false
  }
}

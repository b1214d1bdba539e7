/** The run of a compaction: dead ones are removed before, and a failed one leaves the lake as it was. */

import { rm } from 'node:fs/promises'
import { discardLoaded } from '../../commit/files-of-run.ts'
import { ToolkitError } from '../../core/errors.ts'
import { inLake, runPath } from '../../lake/files/layout.ts'
import { listLeftovers } from '../../manifest/gc/lake-files.ts'
import type { RunLease } from '../../manifest/runs/run-lease.ts'
import { listRunIds, readPlan } from '../../manifest/runs/runs.ts'
import { ensureRecord, findCommit, newestRoot } from '../../manifest/snapshots/snapshots.ts'
import { withResumedRun } from '../../run/with-run.ts'
import { memberOf } from '../../support/json-form.ts'

/** Where DuckDB sorts: in the run's folder, so that gc removes it with the run. */
export const spillFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/spill`)

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
        await (commit === null ? discardLoaded(lake, run) : ensureRecord(lake, commit.snapshot))
      })
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
  // Unfinished writes too, and a run that was killed while its folder was removed: it has another name already.
  for (const { path } of await listLeftovers(lake, { now }))
    await rm(inLake(lake, path), { recursive: true, force: true })
}

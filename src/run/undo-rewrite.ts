/** What rewrites a lake leaves it as it was where it fails. */

import { discardLoaded } from '../commit/files-of-run.ts'
import { systemCode, ToolkitError, writeError } from '../core/errors.ts'
import { engineError } from '../lake/duckdb/engine.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import { findCommit, newestRoot } from '../manifest/snapshots/snapshots.ts'
import type { RunScope } from './with-run.ts'

/** A bucket that did not answer may still carry out the request. */
const isUncertain = (failure: unknown): boolean =>
  failure instanceof ToolkitError && failure.code === 'STORAGE_FAILED'

/**
 * Removes the files that a failed compaction or forget has placed. Where its snapshot exists already, or that is unknown,
 * nothing is removed: gc or the next one finishes it.
 *
 * @returns whether nothing of it is left in the lake
 */
export const undoRewrite = async (lease: RunLease, failure: unknown): Promise<boolean> => {
  const { lake, run, base } = lease
  try {
    if (isUncertain(failure)) return false
    if ((await findCommit(lake, run, base, await newestRoot(lake))) !== null) return false
    await discardLoaded(lake, run)
    return true
  } catch {
    return false
  }
}

/** Undoes what failed, or keeps its run for whoever finishes it. @param action `Cannot …` @returns what is to be thrown */
export const failedRewrite = async (run: RunScope, action: string, failure: unknown): Promise<unknown> => {
  if (!(await undoRewrite(run, failure))) run.keep()
  return systemCode(failure) === undefined ? engineError(action, failure) : writeError(action, failure)
}

/**
 * Work that writes files of a lake anew: DuckDB for it, with rows in their order, memory bounded, stopped by a signal; where it
 * fails the lake stays as it was.
 */

import { discardLoaded } from '../commit/files-of-run.ts'
import { systemCode, ToolkitError, writeError } from '../core/errors.ts'
import { compactMemory, DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from '../core/memory-shares.ts'
import { Engine, engineError, type Session } from '../lake/duckdb/engine.ts'
import { interruptOn } from '../lake/duckdb/stoppable.ts'
import { keepOrder } from '../lake/tables/sort-rows.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import { findCommit, newestRoot } from '../manifest/snapshots/snapshots.ts'
import type { CompactOptions } from '../options/interfaces.ts'
import { removeIfThere } from '../support/durable-files.ts'
import type { RunScope } from './with-run.ts'

export type RewritingOptions = Pick<CompactOptions, 'memoryBytes' | 'threads' | 'signal'>

/** @param spill folder of this machine for what DuckDB puts aside, which is removed at the end */
export const withRewritingSession = async <T>(
  { memoryBytes = DEFAULT_MEMORY_BYTES, threads = DEFAULT_THREADS, signal }: RewritingOptions,
  spill: string,
  use: (session: Session, engine: Engine) => Promise<T>,
): Promise<T> => {
  const engine = await Engine.open({
    memoryBytes: compactMemory(memoryBytes, threads),
    threads,
    spillFolder: spill,
  })
  try {
    const session = await engine.connect()
    const useEnded = interruptOn(session, signal)
    try {
      await keepOrder(session)
      await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
      return await use(session, engine)
    } finally {
      useEnded()
    }
  } finally {
    engine.close()
    await removeIfThere(spill)
  }
}

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

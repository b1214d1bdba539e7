/** What becomes of a leased run that fails before its work has begun. */

import { type RunLease, releaseRun } from '../../manifest/run-lease.ts'
import { removeRun } from '../../manifest/runs.ts'

/** A run that fails before it has windows leaves nothing to resume. */
export const orGiveUp = async <T>(lease: RunLease, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await (lease.number === 1 ? removeRun(lease) : releaseRun(lease, error)).catch(() => undefined)
    throw error
  }
}

/** A run that fails later stays, for another try. */
export const orRelease = async <T>(lease: RunLease, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await releaseRun(lease, error).catch(() => undefined)
    throw error
  }
}

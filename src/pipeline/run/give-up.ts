/** What becomes of a claimed run that fails before its work has begun. */

import { type RunClaim, releaseRun } from '../../manifest/run-lease.ts'
import { removeRun } from '../../manifest/runs.ts'

/** A run that fails before it has windows leaves nothing to resume. */
export const orGiveUp = async <T>(claim: RunClaim, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await (claim.number === 1 ? removeRun(claim) : releaseRun(claim, error)).catch(() => undefined)
    throw error
  }
}

/** A run that fails later stays, for another try. */
export const orRelease = async <T>(claim: RunClaim, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await releaseRun(claim, error).catch(() => undefined)
    throw error
  }
}

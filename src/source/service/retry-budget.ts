/**
 * A bucket of retries shared by all requests: a few failures are retried, a service that fails
 * everything is not stormed.
 */

/** Attempts in the bucket at the start, and the most it holds. */
const FULL = 20
/** What each success restores: one retry for ten successes. */
const PER_SUCCESS = 0.1

export interface RetryBudget {
  readonly success: () => void
  /** Takes one retry; false where there is none left. */
  readonly spend: () => boolean
}

export const retryBudget = (): RetryBudget => {
  let left = FULL
  return {
    success: () => {
      left = Math.min(FULL, left + PER_SUCCESS)
    },
    spend: () => {
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}

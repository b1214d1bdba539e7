/** How often a step is tried again, and after which pause. Knows exit codes, not the engine: workflows load it. */

/** How an attempt ended that did not succeed. */
export type AttemptEnd =
  /** With an exit code of `firmlake run …`, or by a signal that nobody sent on purpose. */
  | { readonly kind: 'exit'; readonly code: number | null }
  /** The attempt's worker fell silent. */
  | { readonly kind: 'lost' }

/** The attempts so far. */
export interface Attempts {
  readonly failed: number
  readonly lost: number
  readonly later: number
  /** Time spent waiting for what is to come later. */
  readonly waitedMs: number
}

export const NO_ATTEMPTS: Attempts = { failed: 0, lost: 0, later: 0, waitedMs: 0 }

const MOST_FAILED = 5
/** A worker may be lost for a thousand reasons; that the unit is one of them shows only in the end. */
const MOST_LOST = 20
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

const FINAL: ReadonlySet<number | null> = new Set([2, 3, 4])
const LATER = 75
/** The worker was asked to stop: nothing has failed. */
const STOPPED: ReadonlySet<number | null> = new Set([130, 143])

/** 1 s, 2 s, 4 s, … at most a minute. */
const pauseAfter = (times: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(times - 1, 16))

/**
 * Decides the next action after an attempt that failed.
 *
 * @param maxWaitMs longest time in all to wait for what is to come later (75)
 * @returns the pause before the next attempt; `null` where there is to be none
 */
export const afterAttempt = (
  before: Attempts,
  end: AttemptEnd,
  maxWaitMs: number,
): { readonly attempts: Attempts; readonly pauseMs: number } | null => {
  if (end.kind === 'lost') {
    const lost = before.lost + 1
    return lost < MOST_LOST ? { attempts: { ...before, lost }, pauseMs: FIRST_PAUSE_MS } : null
  }
  if (FINAL.has(end.code)) return null
  if (STOPPED.has(end.code)) return { attempts: before, pauseMs: FIRST_PAUSE_MS }
  if (end.code === LATER) {
    const left = maxWaitMs - before.waitedMs
    if (left <= 0) return null
    const later = before.later + 1
    const pauseMs = Math.min(left, pauseAfter(later))
    return { attempts: { ...before, later, waitedMs: before.waitedMs + pauseMs }, pauseMs }
  }
  const failed = before.failed + 1
  return failed < MOST_FAILED ? { attempts: { ...before, failed }, pauseMs: pauseAfter(failed) } : null
}

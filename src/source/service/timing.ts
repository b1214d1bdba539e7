/** Clock, pauses and chance of the service's client, passed in so that tests need not wait. */

import { setTimeout as delay } from 'node:timers/promises'

export interface Timing {
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  /** Rejects with the signal's reason when it is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 up to but not 1. */
  readonly random: () => number
}

/** Longer timers of Node fire at once (24 days; a `Retry-After` may be longer). */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const SYSTEM_TIMING: Timing = {
  // Not the clock of the day: set back by an hour, it would hold all requests for that hour.
  now: () => performance.timeOrigin + performance.now(),
  random: Math.random,
  sleep: async (ms, signal) => {
    signal?.throwIfAborted()
    try {
      for (let left = Math.ceil(ms); left > 0; left -= LONGEST_TIMER_MS)
        await delay(Math.min(left, LONGEST_TIMER_MS), undefined, signal && { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}

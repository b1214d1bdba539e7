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

export const SYSTEM_TIMING: Timing = {
  now: Date.now,
  random: Math.random,
  sleep: async (ms, signal) => {
    signal?.throwIfAborted()
    try {
      await delay(Math.ceil(ms), undefined, signal && { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
}

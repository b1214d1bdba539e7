/**
 * The pace of all requests of one token: evenly spaced, learnt from the answers, never above what the person
 * set. Knows nothing of HTTP.
 */

import { ToolkitError } from '../../core/errors.ts'
import { atMost } from '../../support/side-by-side.ts'
import { learnRate } from './learn-rate.ts'
import type { Timing } from './timing.ts'

export interface RateLimiter {
  /**
   * Waits for this request's turn, in the order of calls. Returns when it was let go.
   *
   * @param maxWaitMs longest wait for the service's own pause (`Retry-After`)
   * @throws {ToolkitError} SERVICE_BUSY where that pause is longer
   */
  readonly take: (maxWaitMs: number, signal?: AbortSignal) => Promise<number>
  /** An answer that was not throttled, to the request let go at `sentAt`. */
  readonly accepted: (sentAt: number) => void
  /** A 429 to the request let go at `sentAt`. */
  readonly throttled: (sentAt: number) => void
  /** Lets nothing go for so long: a `Retry-After` to one request is meant for all. */
  readonly pause: (ms: number) => void
  /** Requests a second at present. */
  readonly rate: () => number
}

/**
 * How much sooner than its even turn a request may go to make up for a timer that came late, in milliseconds:
 * with more, one request too many would fit into a second.
 */
const CATCH_UP_MS = 12

/** Shorter waits are lost in the digits of the time, which would stand still for ever. */
const TICK_MS = 0.01

export const rateLimiter = (
  { now, sleep }: Pick<Timing, 'now' | 'sleep'>,
  maxPerSecond: number | undefined,
): RateLimiter => {
  const learner = learnRate(maxPerSecond)
  let nextAt = Number.NEGATIVE_INFINITY
  let pausedUntil = Number.NEGATIVE_INFINITY
  // One at a time waits for the clock, the others for it: a pause or a new pace holds for all of them.
  const inTurn = atMost(1)

  const turn = async (maxWaitMs: number, signal?: AbortSignal): Promise<number> => {
    signal?.throwIfAborted()
    let queuedMs = 0
    for (;;) {
      const at = now()
      const pauseMs = pausedUntil - at
      if (pauseMs > maxWaitMs) throw busy(pauseMs, maxWaitMs)
      const waitMs = Math.max(pauseMs, nextAt - at)
      if (waitMs < TICK_MS) break
      queuedMs = pauseMs > 0 ? 0 : queuedMs + waitMs
      await sleep(waitMs, signal)
    }
    const at = now()
    const gapMs = 1000 / learner.rate(at, queuedMs > 0)
    nextAt = at - (queuedMs > 0 ? Math.min(CATCH_UP_MS, at - nextAt) : 0) + gapMs
    return at
  }

  return {
    take: (maxWaitMs, signal) => inTurn(() => turn(maxWaitMs, signal)),
    accepted: learner.accepted,
    throttled: (sentAt) => learner.throttled(sentAt, now()),
    pause: (ms) => {
      pausedUntil = Math.max(pausedUntil, now() + ms)
      learner.paused(now(), ms)
    },
    rate: () => learner.rateAt(now()),
  }
}

const busy = (pauseMs: number, maxWaitMs: number): ToolkitError =>
  new ToolkitError(
    'SERVICE_BUSY',
    `Cannot continue: the service asks to wait ${Math.ceil(pauseMs / 1000)} s, ` +
      `at most ${Math.floor(maxWaitMs / 1000)} s are left to wait`,
    { waitMs: Math.ceil(pauseMs) },
  )

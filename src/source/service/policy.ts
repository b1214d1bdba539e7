/** How often, how soon and how long a request is retried. Knows outcomes, not HTTP. */

import { ToolkitError } from '../../core/errors.ts'
import type { AnswerHead, Call, Outcome } from './answer.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Timing } from './timing.ts'

/** Attempts of a request that fails; being throttled is no failure and is bounded by `maxWaitMs` alone. */
const MAX_ATTEMPTS = 8
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000

export interface Policy {
  readonly timing: Timing
  readonly limiter: RateLimiter
  readonly budget: RetryBudget
  /** Longest time a request may spend in pauses since it last gained something, in milliseconds. */
  readonly maxWaitMs: number
  readonly counters: { requests: number; retries: number; throttled: number; bytes: number }
  /** Receives what is odd about an answer that is dealt with all the same. */
  readonly warn: (text: string) => void
}

/** Full jitter: anything from nothing to the doubled pause, so that clients do not come back together. */
const jitterMs = ({ random }: Timing, failures: number): number =>
  random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))

const failed = (call: Call, reason: string, attempts: number, why: string, cause: unknown): ToolkitError =>
  new ToolkitError(
    'SERVICE_FAILED',
    `${call.action}: ${reason}, ${why} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    { tries: attempts },
    cause,
  )

type Throttled = Extract<Outcome, { kind: 'throttled' }>

/** The header in words, where it has to be guessed. */
const guessedText = ({ retryAfter, ms }: NonNullable<Throttled['pause']>): string =>
  `Retry-After: ${JSON.stringify(retryAfter)} (neither seconds nor an HTTP date, taken for ${ms / 1000} s)`

const busy = (call: Call, { status, pause }: Throttled, waitMs: number, leftMs: number): ToolkitError => {
  const asked =
    pause === undefined
      ? 'without Retry-After, and the next pause'
      : `with ${pause.guessed ? guessedText(pause) : `Retry-After: ${pause.retryAfter}`}, which`
  const left = Math.floor(leftMs / 1000)
  return new ToolkitError(
    'SERVICE_BUSY',
    `${call.action}: the service answered ${status} ${asked} exceeds --max-wait, of which ${left} s are left`,
    { status, waitMs: Math.ceil(waitMs) },
  )
}

/**
 * Sends a request until it is answered soundly.
 *
 * @param attempt one attempt; it fulfils with an outcome and rejects only through a bug
 * @throws {ToolkitError} SERVICE_FAILED, SERVICE_BUSY, and what an outcome is final with; the signal's reason
 */
export const withRetries = async (
  policy: Policy,
  call: Call,
  attempt: () => Promise<Outcome>,
): Promise<AnswerHead> => {
  const { timing, limiter, budget, counters, maxWaitMs, warn } = policy
  let [failures, throttles, waitedMs] = [0, 0, 0]
  for (;;) {
    const sentAt = await limiter.take(maxWaitMs - waitedMs, call.signal)
    counters.requests += 1
    const outcome = await attempt()
    call.signal?.throwIfAborted()
    if (outcome.kind === 'throttled') {
      counters.throttled += 1
      throttles += 1
      const { pause } = outcome
      if (pause?.guessed) warn(`the service answered ${outcome.status} with ${guessedText(pause)}`)
      const floorMs = pause?.ms ?? 0
      const pauseMs = floorMs + jitterMs(timing, throttles)
      if (outcome.status === 429) limiter.throttled(sentAt)
      limiter.pause(floorMs)
      const leftMs = maxWaitMs - waitedMs
      if (pauseMs > leftMs) throw busy(call, outcome, pauseMs, leftMs)
      waitedMs += pauseMs
      counters.retries += 1
      await timing.sleep(pauseMs, call.signal)
      continue
    }
    limiter.accepted(sentAt)
    if (outcome.kind === 'done') {
      budget.success()
      return outcome.head
    }
    if (outcome.kind === 'final') throw outcome.error
    if (outcome.gained) [failures, throttles, waitedMs] = [0, 0, 0]
    failures += 1
    const { reason, cause } = outcome
    if (failures >= MAX_ATTEMPTS) throw failed(call, reason, failures, 'given up', cause)
    if (!budget.spend()) throw failed(call, reason, failures, 'retry budget exhausted', cause)
    const pauseMs = jitterMs(timing, failures)
    const leftMs = maxWaitMs - waitedMs
    if (pauseMs > leftMs) throw failed(call, reason, failures, 'no time left to wait, given up', cause)
    waitedMs += pauseMs
    counters.retries += 1
    await timing.sleep(pauseMs, call.signal)
  }
}

/**
 * A bucket of retries shared by all requests: a few failures are retried, a service that fails
 * everything is not stormed.
 */

/** Attempts in the bucket at the start, and the most it holds. */
const FULL = 20
/** Part of a retry that each success restores: one for ten successes. */
const PER_SUCCESS = 0.1

interface RetryBudget {
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

/**
 * The pace of all requests of one token: evenly spaced, learnt from the answers, never above what the person
 * set. Knows nothing of HTTP.
 */

import { ToolkitError } from '../../core/errors.ts'
import { atMost } from '../../support/side-by-side.ts'
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
  // A single request waits for the clock, the others for it: a pause or a new pace holds for all of them.
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

/**
 * How many requests a second a service takes, learnt from its answers alone: upwards as long as nothing is
 * refused, half of it at a 429, then back to just under what the refusal has shown, and upwards again so rarely
 * and gently that the refusals cost little.
 */

/** Requests a second to begin with where nothing is set. */
const START = 10
/** Requests a second gained each second while no limit is known: so many, or this part of the rate. */
const GROWTH = 10
const GROWTH_PART = 0.3
/** Part of the way to the edge gained each second, and where that way ends. */
const APPROACH_PART = 0.1
const NEAR_EDGE = 0.97
/** Part of the rate gained each second while looking for where the edge is now. */
const PROBE_PART = 0.004
/** The rate grows to so many times what is really sent and no further: more would be a guess. */
const BEYOND_NEED = 2
/** Once so far beyond the last edge the limit has been raised, and is unknown again. */
const BEYOND_EDGE = 1.15
/** How far below the edge the rate is held: what it costs, and what jitter of the network it bears. */
const BELOW_EDGE = 0.98
/** The first estimate comes from one second's answers, and is less reliable. */
const BELOW_ESTIMATE = 0.95
/** A refusal so soon after the last one says that the rate is still too high: a little, then more and more. */
const SOON_MS = 4000
const TOO_HIGH = 0.93
/** The least part of the rate right after a refusal, and the time until all of it is back. */
const MIN_DIP = 0.02
const RECOVERY_MS = 1000
const LONGEST_RECOVERY_MS = 30_000
/** Time without a refusal before going up again: at first, once the edge is known, and at most. */
const FIRST_HOLD_MS = 4000
const EDGE_HOLD_MS = 60_000
const LONGEST_HOLD_MS = 600_000
/** Given a limit, a hair less: a window of the service may begin in the middle of ours. */
const BELOW_MOST = 0.985
/** Slowest rate: one request in ten seconds. */
const MIN = 0.1

interface RateLearner {
  /** Requests a second from this request on. @param limiting whether it had to wait for its turn */
  readonly rate: (at: number, limiting: boolean) => number
  /** Requests a second at this time. */
  readonly rateAt: (at: number) => number
  /** An answer to the request let go at `sentAt`, other than 429. */
  readonly accepted: (sentAt: number) => void
  /** A 429. One of a request let go before the last cut belongs to the same burst and changes nothing. */
  readonly throttled: (sentAt: number, at: number) => void
  /** For so long nothing is sent at all. */
  readonly paused: (at: number, ms: number) => void
}

/** Counts answers: those of the last second, and those of requests let go since the last refusal. */
const answerCounts = () => {
  let recent: number[] = []
  let since = Number.NEGATIVE_INFINITY
  let count = 0
  return {
    add: (sentAt: number): void => {
      if (sentAt >= since) count += 1
      recent.push(sentAt)
      if (recent.length > 4096) recent = recent.slice(2048)
    },
    lastSecond: (at: number): number => recent.filter((sentAt) => sentAt > at - 1000).length,
    sinceCut: (): number => count,
    cut: (at: number): void => {
      since = at
      count = 0
    },
  }
}

/** Counts what is sent by the second. */
const sendMeter = () => {
  let second = 0
  let [count, last] = [0, 0]
  return {
    add: (at: number): void => {
      const current = Math.floor(at / 1000)
      if (current !== second) [second, last, count] = [current, current === second + 1 ? count : 0, 0]
      count += 1
    },
    perSecond: (): number => Math.max(count, last),
  }
}

/** Times are in milliseconds. */
const learnRate = (maxPerSecond: number | undefined): RateLearner => {
  const most = maxPerSecond === undefined ? Number.POSITIVE_INFINITY : maxPerSecond * BELOW_MOST
  const counts = answerCounts()
  const sent = sendMeter()
  let target = Math.min(most, maxPerSecond ?? START)
  /** Rate at which the service last refused; `undefined` while no limit is known. */
  let edge: number | undefined
  let cutAt = Number.NEGATIVE_INFINITY
  let pausedUntil = Number.NEGATIVE_INFINITY
  let measuredFrom = 0
  let strikes = 0
  let dip = 1
  let recoveryMs = RECOVERY_MS
  let probeHoldMs = EDGE_HOLD_MS
  let grownAt = Number.NEGATIVE_INFINITY

  const partAt = (at: number): number => dip + (1 - dip) * Math.min(1, (at - cutAt) / recoveryMs)
  const heldMs = (at: number): number => at - Math.max(cutAt, pausedUntil)

  const grow = (at: number): void => {
    // At most a second at once: while we were idle nothing has been learnt.
    const seconds = Math.min(1000, at - grownAt) / 1000
    if (edge === undefined) {
      const grown = target + Math.max(GROWTH, target * GROWTH_PART) * seconds
      target = Math.max(target, Math.min(grown, START + sent.perSecond() * BEYOND_NEED))
    } else if (target < edge * NEAR_EDGE) {
      if (heldMs(at) >= FIRST_HOLD_MS) target += (edge - target) * APPROACH_PART * seconds
    } else if (heldMs(at) >= probeHoldMs) target += target * PROBE_PART * seconds
    if (edge !== undefined && target > edge * BEYOND_EDGE) edge = undefined
    target = Math.min(most, target)
  }

  /** The rate to hold after a refusal. */
  const heldRate = (at: number): number => {
    if (edge === undefined) {
      return Math.min(target, Math.max(counts.lastSecond(at), target / 4)) * BELOW_ESTIMATE
    }
    if (pausedUntil - cutAt > SOON_MS) {
      // The limit counts over longer than we look: what was answered from pause to pause is the rate.
      return Math.min(target, (counts.sinceCut() * 1000) / (at - measuredFrom)) * BELOW_EDGE
    }
    if (heldMs(at) < SOON_MS) {
      strikes += 1
      return target * TOO_HIGH ** (2 ** (strikes - 1))
    }
    strikes = 0
    // Looked for again later and later: an edge that stays where it is need not be touched often.
    if (heldMs(at) >= probeHoldMs) probeHoldMs = Math.min(LONGEST_HOLD_MS, probeHoldMs * 2)
    return target * BELOW_EDGE
  }

  return {
    rate: (at, limiting) => {
      sent.add(at)
      if (limiting) grow(at)
      grownAt = at
      return target * partAt(at)
    },
    rateAt: (at) => target * partAt(at),
    accepted: counts.add,
    throttled: (sentAt, at) => {
      if (sentAt < cutAt) return
      const isStarved = cutAt > Number.NEGATIVE_INFINITY && counts.sinceCut() === 0
      dip = Math.max(MIN_DIP, partAt(at) / 2)
      if (isStarved) recoveryMs = Math.min(LONGEST_RECOVERY_MS, recoveryMs * 2)
      else {
        // Nothing is learnt from a service that refuses all: it says nothing of the rate it takes.
        const refusedAt = target
        target = Math.max(MIN, heldRate(at))
        edge = refusedAt
        recoveryMs = RECOVERY_MS
        measuredFrom = at
        counts.cut(at)
      }
      cutAt = at
    },
    paused: (at, ms) => {
      pausedUntil = Math.max(pausedUntil, at + ms)
    },
  }
}

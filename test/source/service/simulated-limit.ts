/** A service with a rate limit and clients of it, on a clock of their own: minutes pass in moments. */

import { type Policy, retryBudget, withRetries } from '../../../src/source/service/policy.ts'
import { rateLimiter } from '../../../src/source/service/rate-limiter.ts'

/** Whether a request at this time (milliseconds) is accepted; else the milliseconds until one may be. */
export type ServerLimit = (at: number) => true | number

/** So many requests in each window of so many milliseconds, which begin at `offsetMs`. */
export const fixedWindow = (most: number, windowMs: number, offsetMs = 0): ServerLimit => {
  let window = Number.NEGATIVE_INFINITY
  let count = 0
  return (at) => {
    const current = Math.floor((at - offsetMs) / windowMs)
    if (current !== window) [window, count] = [current, 0]
    if (count >= most) return (current + 1) * windowMs + offsetMs - at
    count += 1
    return true
  }
}

/** Generic cell rate algorithm: so many a second, and so many at once after a rest. */
export const gcra = (perSecond: number, burst: number): ServerLimit => {
  const gapMs = 1000 / perSecond
  let theoretical = Number.NEGATIVE_INFINITY
  return (at) => {
    const earliest = theoretical - (burst - 1) * gapMs
    if (at < earliest) return earliest - at
    theoretical = Math.max(theoretical, at) + gapMs
    return true
  }
}

/** A number from 0 to 1 in an order that is the same in each run. */
const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const virtualClock = () => {
  let at = 0
  const sleepers: { until: number; wake: () => void }[] = []
  return {
    now: () => at,
    sleep: (ms: number) =>
      new Promise<void>((wake) => {
        sleepers.push({ until: at + Math.max(0, ms), wake })
      }),
    runTo: async (end: number): Promise<void> => {
      for (;;) {
        await new Promise(setImmediate)
        sleepers.sort((a, b) => a.until - b.until)
        const next = sleepers[0]
        if (!next || next.until > end) return
        sleepers.shift()
        at = Math.max(at, next.until)
        next.wake()
      }
    },
  }
}

export interface Figures {
  /** Accepted requests as a part of what the limit allows. */
  readonly used: number
  /** Answers 429 as a part of all. */
  readonly refused: number
  readonly rate: number
  /** Sent in each whole second. */
  readonly mostInASecond: number
}

export const simulate = async (
  limit: ServerLimit,
  {
    perSecond,
    seconds,
    told,
    concurrency = 8,
    latencyMs = 120,
    jitterMs = 6,
    saysWhen = true,
    seed = 1,
  }: {
    readonly perSecond: number
    readonly seconds: number
    readonly told?: number
    readonly concurrency?: number
    readonly latencyMs?: number
    /** Of the way to the service. */
    readonly jitterMs?: number
    /** Whether a 429 has `Retry-After`, in whole seconds. */
    readonly saysWhen?: boolean
    readonly seed?: number
  },
): Promise<Figures> => {
  const clock = virtualClock()
  const random = seeded(seed)
  // A timer is up to 2 ms late.
  const timing = { now: clock.now, random, sleep: (ms: number) => clock.sleep(Math.ceil(ms) + random() * 2) }
  const limiter = rateLimiter(timing, told)
  const counters = { requests: 0, retries: 0, throttled: 0, bytes: 0 }
  const policy: Policy = {
    timing,
    limiter,
    budget: retryBudget(),
    maxWaitMs: 1e9,
    counters,
    warn: () => undefined,
  }
  const sent: number[] = []
  let accepted = 0
  const attempt = async () => {
    await clock.sleep(5 + random() * jitterMs)
    const verdict = limit(clock.now())
    sent.push(clock.now())
    await clock.sleep(verdict === true ? latencyMs * (0.5 + random()) : 5)
    if (verdict === true) {
      accepted += 1
      return { kind: 'done', head: { status: 200, headers: {} } } as const
    }
    const seconds = Math.ceil(verdict / 1000)
    const pause = saysWhen ? { ms: seconds * 1000, retryAfter: `${seconds}` } : undefined
    return { kind: 'throttled', status: 429, pause } as const
  }
  const call = { action: 'Cannot', receive: () => ({ write: () => undefined, end: async () => undefined }) }
  const worker = async (): Promise<void> => {
    for (;;) await withRetries(policy, call, attempt)
  }
  for (let i = 0; i < concurrency; i++) void worker()
  await clock.runTo(seconds * 1000)
  const bySecond = Map.groupBy(sent, (at) => Math.floor(at / 1000))
  return {
    used: accepted / (perSecond * seconds),
    refused: counters.throttled / counters.requests,
    rate: limiter.rate(),
    mostInASecond: Math.max(...[...bySecond.values()].map(({ length }) => length)),
  }
}

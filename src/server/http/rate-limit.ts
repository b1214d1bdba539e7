/** 429 for a token over its rate limit or with too much under way, with `Retry-After` in seconds and no body. */

import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendEmpty } from './replies.ts'

interface TokenLimits {
  /** The rate of each token that has none of its own; absent: none. */
  readonly requestsPerSecond: number | undefined
  readonly requestsAtOnce: number
}

/** @param waitMs how long to wait in milliseconds */
export const sendThrottled = (reply: FastifyReply, waitMs: number): FastifyReply =>
  sendEmpty(reply.header('retry-after', Math.ceil(waitMs / 1000)), 429)

/** Nobody knows when a request under way will end. */
const BUSY_WAIT_MS = 1000

/** Limits are the token's, whatever it asks for. Behind the authentication, which finds the token's entry. */
export const addRateLimit = (
  app: FastifyInstance,
  { requestsPerSecond, requestsAtOnce }: TokenLimits,
  onThrottled: () => void,
): void => {
  const buckets = new RateBuckets()
  const underWay = new Map<string, number>()
  const change = (name: string, by: number): void => {
    underWay.set(name, (underWay.get(name) ?? 0) + by)
  }
  app.addHook('onRequest', async ({ entry }, reply) => {
    if (entry === null) return
    const { name } = entry.caller
    const perSecond = entry.requestsPerSecond ?? requestsPerSecond
    const isBusy = (underWay.get(name) ?? 0) >= requestsAtOnce
    const waitMs = isBusy ? BUSY_WAIT_MS : perSecond === undefined ? 0 : buckets.take(name, { perSecond })
    if (waitMs > 0) {
      onThrottled()
      return sendThrottled(reply, waitMs)
    }
    change(name, 1)
    reply.raw.once('close', () => change(name, -1))
  })
}

/**
 * Rate limits as buckets that fill evenly. Windows of a second would refuse a client that keeps to its rate: its
 * 21st request may come 999 ms after the first. A bucket holds a second's worth and a tenth more, for the network's
 * jitter; over any longer time no more than the rate goes through.
 */

export interface Rate {
  readonly perSecond: number
  /** Most that may come at once. @default a second's worth and a tenth more */
  readonly atOnce?: number
}

interface Bucket {
  /** Requests that may come at once. */
  tokens: number
  atMs: number
}

const JITTER = 0.1
/** If others make the keys, the longest unused are forgotten beyond so many. */
const MOST_KEYS = 10_000

export class RateBuckets {
  readonly #buckets = new Map<string, Bucket>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** How long a request of a key would have to wait in milliseconds; 0 when it may pass. */
  waitMs(key: string, rate: Rate): number {
    const { tokens } = this.#filled(key, rate)
    return tokens >= 1 ? 0 : ((1 - tokens) / rate.perSecond) * 1000
  }

  /** Takes one request of a key. @returns how long to wait in milliseconds; 0 when it may pass */
  take(key: string, rate: Rate): number {
    const waitMs = this.waitMs(key, rate)
    if (waitMs > 0) return waitMs
    const bucket = this.#filled(key, rate)
    bucket.tokens -= 1
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    const oldest = this.#buckets.keys().next().value
    if (this.#buckets.size > MOST_KEYS && oldest !== undefined) this.#buckets.delete(oldest)
    return 0
  }

  #filled(key: string, { perSecond, atOnce = Math.max(1, perSecond * (1 + JITTER)) }: Rate): Bucket {
    const now = this.#nowMs()
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: atOnce, atMs: now }
    return { tokens: Math.min(atOnce, tokens + ((now - atMs) / 1000) * perSecond), atMs: now }
  }
}

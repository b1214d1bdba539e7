/** 429 for a token over its rate limit, with `Retry-After` in seconds and no body. */

import type { FastifyInstance } from 'fastify'
import { sendEmpty } from './replies.ts'

/** The limit is the token's, whatever it asks for. Behind the authentication, which finds the token's entry. */
export const addRateLimit = (
  app: FastifyInstance,
  requestsPerSecond: number | undefined,
  onThrottled: () => void,
): void => {
  const buckets = new RateBuckets()
  app.addHook('onRequest', async ({ entry }, reply) => {
    const perSecond = entry?.requestsPerSecond ?? requestsPerSecond
    if (entry === null || perSecond === undefined) return
    const waitMs = buckets.take(entry.caller.name, perSecond)
    if (waitMs === 0) return
    onThrottled()
    return sendEmpty(reply.header('retry-after', Math.ceil(waitMs / 1000)), 429)
  })
}

/**
 * Rate limits as buckets that fill evenly. Windows of a second would refuse a client that keeps to its rate: its
 * 21st request may come 999 ms after the first. A bucket holds a second's worth and a tenth more, for the network's
 * jitter; over any longer time no more than the rate goes through.
 */

interface Bucket {
  /** Requests that may come at once. */
  tokens: number
  atMs: number
}

const JITTER = 0.1

export class RateBuckets {
  readonly #buckets = new Map<string, Bucket>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Takes one request of a key. @returns how long to wait in milliseconds; 0 when it may pass */
  take(key: string, perSecond: number): number {
    const now = this.#nowMs()
    const capacity = Math.max(1, perSecond * (1 + JITTER))
    const bucket = this.#buckets.get(key) ?? { tokens: capacity, atMs: now }
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.atMs) / 1000) * perSecond)
    bucket.atMs = now
    this.#buckets.set(key, bucket)
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1
      return 0
    }
    return ((1 - bucket.tokens) / perSecond) * 1000
  }
}

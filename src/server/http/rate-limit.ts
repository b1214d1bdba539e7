/** 429 for a token that asks more often than it may, with `Retry-After` in seconds and no body. */

import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RateBuckets } from './rate-buckets.ts'

class TooManyRequests extends Error {
  readonly statusCode = 429
}

/** All routes share one store: the limit is the token's, whatever it asks for. */
const storeOver = (buckets: RateBuckets) =>
  class Store implements FastifyRateLimitStore {
    incr(
      key: string,
      callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
      _windowMs: number,
      perSecond: number,
    ): void {
      const waitMs = buckets.take(key, perSecond)
      // More than the most is how the plugin is told that it is too many.
      callback(null, { current: waitMs > 0 ? perSecond + 1 : 0, ttl: waitMs })
    }
    child(): FastifyRateLimitStore {
      return this
    }
  }

const NO_HEADERS = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }

/** For the routes that are added after it. */
export const addRateLimit = async (
  app: FastifyInstance,
  requestsPerSecond: number | undefined,
  onThrottled: () => void,
): Promise<void> => {
  const limitOf = ({ entry }: FastifyRequest): number | undefined =>
    entry === null ? undefined : (entry.requestsPerSecond ?? requestsPerSecond)
  await app.register(rateLimit, {
    store: storeOver(new RateBuckets()),
    keyGenerator: ({ entry }) => entry?.caller.name ?? '',
    allowList: (request) => limitOf(request) === undefined,
    max: (request) => limitOf(request) ?? Number.POSITIVE_INFINITY,
    addHeadersOnExceeding: NO_HEADERS,
    addHeaders: { ...NO_HEADERS, 'retry-after': true },
    onExceeded: onThrottled,
    errorResponseBuilder: () => new TooManyRequests('Too many requests'),
  })
}

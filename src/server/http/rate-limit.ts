/** 429 for a token over its rate limit, with `Retry-After` in seconds and no body. */

import type { FastifyInstance } from 'fastify'
import { RateBuckets } from './rate-buckets.ts'
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

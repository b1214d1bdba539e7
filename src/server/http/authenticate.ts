/** Checks the bearer token of every operation, before anything of the request's body is read. */

import { isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyReply, HTTPMethods } from 'fastify'
import { SERVER_LIMITS } from '../../core/server-limits.ts'
import { RateBuckets, sendThrottled } from './rate-limit.ts'
import { sendEmpty, sendProblem } from './replies.ts'
import type { ServerParts } from './server-parts.ts'

export const bearerToken = (header: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(header ?? '')?.[1]

const sendUnknown = (reply: FastifyReply): FastifyReply =>
  sendEmpty(reply.header('www-authenticate', 'Bearer'), 401)

/** Parts of an address of IPv6 that name its network, which one machine may have all addresses of. */
const NETWORK_PARTS = 4
const ALL_PARTS = 8

/** An address whose guesses count together; of IPv6 its network. */
export const guesserOf = (ip: string): string => {
  if (!isIPv6(ip) || ip.includes('.')) return ip
  const [head = [], tail = []] = ip.split('::').map((half) => half.split(':').filter(Boolean))
  const zeros = Array.from({ length: ALL_PARTS - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, NETWORK_PARTS).join(':')
}

/**
 * An address with too many failed sign-ins is answered with 429 before its token is looked at, whatever it is: else the answer
 * would tell whether a guess is right.
 */
export const addAuthentication = (
  app: FastifyInstance,
  { tokens, sessions }: Pick<ServerParts, 'tokens' | 'sessions'>,
  onThrottled: () => void,
): void => {
  const guesses = new RateBuckets()
  const limit = SERVER_LIMITS.failedSignIns
  app.decorateRequest('entry', null)
  app.addHook('onRequest', async (request, reply) => {
    const { operation, needsToken } = request.routeOptions.config
    if (operation === undefined && needsToken === undefined) return
    const token = bearerToken(request.headers.authorization)
    if (token === undefined) return sendUnknown(reply)
    const guesser = guesserOf(request.ip)
    const waitMs = guesses.waitMs(guesser, limit)
    if (waitMs > 0) {
      onThrottled()
      return sendThrottled(reply, waitMs)
    }
    const session = needsToken === 'token or session' ? await sessions.find(token) : undefined
    const entry = session ?? (await tokens.find(token))
    if (entry) request.entry = entry
    else {
      guesses.take(guesser, limit)
      return sendUnknown(reply)
    }
  })
}

// 405 for a known address and another method.

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Watches the routes that are added after it; `answer` then adds the refusals for all of them. */
export const watchMethods = (app: FastifyInstance): { readonly answerOthers: () => void } => {
  const known = new Map<string, Set<string>>()
  let watching = true
  app.addHook('onRoute', ({ url, method }) => {
    if (!watching) return
    const methods = known.get(url) ?? new Set()
    for (const one of [method].flat()) methods.add(one)
    // The framework adds HEAD to GET.
    if (methods.has('GET')) methods.add('HEAD')
    known.set(url, methods)
  })
  return {
    answerOthers: () => {
      watching = false
      for (const [url, methods] of known) {
        const allow = [...methods].join(', ')
        app.route({
          method: METHODS.filter((method) => !methods.has(method)),
          url,
          handler: (_request, reply) => sendProblem(reply.header('allow', allow), 405),
        })
      }
    },
  }
}

/** Checks the bearer token of every operation, before anything of the request's body is read. */

import type { FastifyInstance, HTTPMethods } from 'fastify'
import type { TokenRegistry } from '../access/choose-tokens.ts'
import { sendEmpty, sendProblem } from './replies.ts'

const bearerToken = (header: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(header ?? '')?.[1]

export const addAuthentication = (app: FastifyInstance, tokens: TokenRegistry): void => {
  app.decorateRequest('entry', null)
  app.addHook('onRequest', async (request, reply) => {
    const { operation, needsToken } = request.routeOptions.config
    if (operation === undefined && needsToken !== true) return
    const token = bearerToken(request.headers.authorization)
    const entry = token === undefined ? undefined : tokens.find(token)
    if (!entry) return sendEmpty(reply.header('www-authenticate', 'Bearer'), 401)
    request.entry = entry
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

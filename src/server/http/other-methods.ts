/** 405 for a known address and another method. */

import type { FastifyInstance, HTTPMethods } from 'fastify'
import { sendProblem } from './replies.ts'

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

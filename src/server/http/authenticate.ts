/** Checks the bearer token of every operation, before anything of the request's body is read. */

import type { FastifyInstance } from 'fastify'
import type { TokenRegistry } from '../access/token-registry.ts'
import { sendEmpty } from './replies.ts'

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

/** POST /v2/companies and /v2/relations: a search's answer as HTTP. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AS_OF_HEADER, PAGINATION_HEADER } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import { OPERATIONS } from '../../contract/requests.ts'
import type { Metrics } from './metrics.ts'
import { sendJson, sendRefusal } from './replies.ts'
import type { Search, ServerParts } from './server-parts.ts'

/** Bodies are JSON also where no type is declared; any other declared type is refused. */
const isJsonType = (type: string | undefined): boolean =>
  type === undefined || /^application\/([\w.+-]+\+)?json *(;|$)/i.test(type)

class WrongType extends Error {
  readonly statusCode = 415
}

/** Bodies stay text: the search reads them, so that its messages are the service's and not the framework's. */
export const addBodyReader = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('*', { parseAs: 'string' }, (request, body, done) =>
    isJsonType(request.headers['content-type'])
      ? done(null, body)
      : done(new WrongType('Request bodies are JSON')),
  )
}

/** Fires when the connection is gone before the answer. */
export const goneSignal = (reply: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

export const addSearchRoutes = (
  app: FastifyInstance,
  parts: Pick<ServerParts, Content>,
  metrics: Metrics,
): void => {
  const answer =
    (content: Content, search: Search) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { entry, body } = request
      if (entry === null) throw new TypeError('Cannot search without a caller')
      const found = await search(typeof body === 'string' ? body : '', entry.caller, goneSignal(reply))
      if (found.kind === 'refused') return sendRefusal(reply, found.messages)
      metrics.records(content, found.pagination.Count)
      if (found.asOf) reply.header(AS_OF_HEADER, found.asOf)
      // Joined: a thousand small writes cost as much as the copy (4 ms for 5 MB), and one has a Content-Length.
      return sendJson(
        reply.header(PAGINATION_HEADER, JSON.stringify(found.pagination)),
        found.body.length === 1 && found.body[0] ? found.body[0] : Buffer.concat(found.body),
      )
    }
  for (const content of ['companies', 'relations'] as const) {
    const { method, path } = OPERATIONS[content]
    app.route({ method, url: path, config: { operation: content }, handler: answer(content, parts[content]) })
  }
}

/** The explorer: its page and its files, which hold no data, and its parts and tables, which need a token as the interface does. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '../../report/html.ts'
import type { Fragment, Unanswerable } from '../explorer/pages/fragment.ts'
import { FRAGMENTS, PAGE_FILES, renderFor } from '../explorer/pages/fragments.ts'
import type { WebFile } from '../explorer/pages/web-files.ts'
import { bearerToken } from './authenticate.ts'
import { callerOf } from './listing-routes.ts'
import { sendEmpty, sendJson, sendProblem, sendRefusal } from './replies.ts'
import { goneSignal } from './search-routes.ts'
import type { ServerParts } from './server-parts.ts'

/** No script, style, picture or request but of this origin; nobody shows the page in a frame. */
const POLICY = [
  ...[
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
  ],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ')

const sendFile = (
  reply: FastifyReply,
  { type, body, etag }: WebFile,
  known: string | undefined,
): FastifyReply => {
  reply.headers({
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    // Asked for again after an upgrade, and then mostly answered with 304.
    'cache-control': 'no-cache',
    etag,
  })
  return known === etag ? reply.code(304).send() : reply.type(type).send(body)
}

const sendHtml = (reply: FastifyReply, { text }: Html): FastifyReply =>
  reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(text)

const bodyOf = ({ body }: FastifyRequest): string => (typeof body === 'string' ? body : '')

const sendUnanswered = (reply: FastifyReply, found: Unanswerable): FastifyReply => {
  if (found.kind === 'refused') return sendRefusal(reply, found.messages)
  return sendProblem(reply, { unknown: 404, forbidden: 403, off: 501 }[found.kind])
}

export const addExplorerRoutes = (
  app: FastifyInstance,
  { webFile, askExplorer, sessions }: Pick<ServerParts, 'webFile' | 'askExplorer' | 'sessions'>,
): void => {
  for (const [url, name] of [
    ['/', 'index.html'],
    ['/explorer/app.js', 'app.js'],
    ['/explorer/app.css', 'app.css'],
  ] as const)
    app.get(url, async (request, reply) =>
      sendFile(reply, await webFile(name), request.headers['if-none-match']),
    )
  app.post('/explorer/api/session', {
    config: { needsToken: 'token' },
    handler: async ({ entry }, reply) =>
      entry === null
        ? sendProblem(reply, 401)
        : sendJson(reply, JSON.stringify({ session: sessions.begin(entry) })),
  })
  app.delete('/explorer/api/session', {
    config: { needsToken: 'token or session' },
    handler: async ({ headers }, reply) => {
      sessions.end(bearerToken(headers.authorization) ?? '')
      return sendEmpty(reply, 204)
    },
  })
  // An address each, so that log and metrics tell them apart.
  const add = <Content>(
    [folder, name, fragment]: readonly [folder: string, name: string, fragment: Fragment<Content>],
    sendContent: (reply: FastifyReply, content: Content) => FastifyReply,
  ): void => {
    app.post(`/explorer/${folder}/${name}`, {
      config: { needsToken: 'token or session' },
      handler: async (request, reply) => {
        const asking = [askExplorer, callerOf(request), goneSignal(reply)] as const
        const found = await renderFor(fragment, bodyOf(request), asking)
        return found.kind === 'content' ? sendContent(reply, found.content) : sendUnanswered(reply, found)
      },
    })
  }
  for (const [name, fragment] of Object.entries(FRAGMENTS)) add(['fragment', name, fragment], sendHtml)
  for (const [name, file] of Object.entries(PAGE_FILES))
    add(['file', name, file], (reply, { type, bytes }) => reply.type(type).send(bytes))
}

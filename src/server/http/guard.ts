/** The rules of every request and answer, whatever it asks for: headers, connections that end, and bytes that are no request. */

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { systemCode } from '../../core/errors.ts'
import { problemBody, sendProblem } from './replies.ts'

/** A route's own headers count more. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

export const withHeaders = (reply: FastifyReply): FastifyReply => reply.headers(HEADERS)

const SINGLE: readonly string[] = ['host', 'authorization']

/** Two of them may mean one thing to a proxy and another one here. */
const isAmbiguous = ({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean => {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  if (SINGLE.some((name) => names.indexOf(name) !== names.lastIndexOf(name))) return true
  return httpVersion === '1.1' && headers.host === undefined
}

interface ConnectionLimits {
  readonly bodyLimitBytes: number
  readonly stallTimeoutMs: number
}

/** Whether the rest of a request is not worth being read for the sake of its connection. */
const isLong = ({ headers }: IncomingMessage, bodyLimitBytes: number): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > bodyLimitBytes

/** Behind the observation and before all else. */
export const addGuard = (
  app: FastifyInstance,
  { bodyLimitBytes, stallTimeoutMs }: ConnectionLimits,
): void => {
  app.addHook('onRequest', async ({ raw }, reply) => {
    withHeaders(reply)
    if (isAmbiguous(raw)) return sendProblem(reply.header('connection', 'close'), 400)
  })
  // Only now the client is asked to go on: its token is known, or none is needed.
  app.addHook('preParsing', async ({ headers }, reply) => {
    if (/100-continue/i.test(headers.expect ?? '')) reply.raw.writeContinue()
  })
  app.addHook('onSend', async ({ raw }, reply) => {
    // The rest of the body would be read and dropped, so that the connection can be used again.
    if (!raw.complete && (reply.statusCode === 401 || isLong(raw, bodyLimitBytes)))
      reply.header('connection', 'close')
    reply.raw.setTimeout(stallTimeoutMs)
  })
  for (const event of ['checkContinue', 'checkExpectation'])
    app.server.on(event, (request, response) => app.server.emit('request', request, response))
}

/** The status for what the parser of HTTP refuses; `undefined` where nobody waits for one. */
export const statusOfRefusal = (error: Error, socket: Socket): number | undefined => {
  const code = systemCode(error)
  if (code === 'ECONNRESET' || socket.destroyed) return undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
}

/** Answers past the framework, where nothing becomes a request. */
export const writeRefusal = (socket: Socket, status: number): void => {
  if (!socket.writable) return
  const body = problemBody(status)
  const headers = {
    ...HEADERS,
    ...{
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      connection: 'close',
    },
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** Answers that are no data: refusals and failures. */

import { STATUS_CODES } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { validationBody } from '../../contract/messages.ts'
import { ToolkitError } from '../../core/errors.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers that the interface leaves open hold the status and nothing else. */
export const sendProblem = (reply: FastifyReply, status: number): FastifyReply =>
  reply.code(status).type(JSON_TYPE).send(problemBody(status))

export const problemBody = (status: number): string =>
  JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status })

export const sendRefusal = (reply: FastifyReply, messages: readonly string[]): FastifyReply =>
  reply
    .code(400)
    .type(JSON_TYPE)
    .send(JSON.stringify(validationBody(messages)))

export const sendJson = (reply: FastifyReply, text: string | Buffer): FastifyReply =>
  reply.type(JSON_TYPE).send(text)

export const sendEmpty = (reply: FastifyReply, status: number): FastifyReply => reply.code(status).send()

// Failed requests are answered with a status and no details, which may quote data.

/** A query that took too long, or an embedding service that is down: a retry may succeed. */
const BUSY_CODES: readonly string[] = ['QUERY_FAILED', 'EMBEDDER_FAILED']
const RETRY_AFTER_SECONDS = 5

/** DuckDB's words when a query does not fit into its memory: others run beside it. */
const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Out of Memory Error')

const statusOf = (error: unknown): number => {
  if (isOutOfMemory(error)) return 503
  if (error instanceof ToolkitError) return BUSY_CODES.includes(error.code) ? 503 : 500
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  return status >= 400 && status < 600 ? status : 500
}

const sendFailure = (reply: FastifyReply, status: number): FastifyReply => {
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS)
  return sendProblem(reply, status)
}

/** Headers that a route may have set before the file proved to be damaged. */
const OF_FILES = ['etag', 'accept-ranges', 'repr-digest', 'content-length', 'content-range']

export const addErrorAnswers = (app: FastifyInstance): void => {
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404))
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error)
    for (const name of OF_FILES) reply.removeHeader(name)
    if (status >= 500 && !reply.raw.destroyed) request.log.error({ err: error }, 'failed')
    return sendFailure(reply, status)
  })
}

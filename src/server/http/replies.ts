/** Answers that are no data: refusals and failures. */

import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { validationBody } from '../../contract/messages.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers that the interface leaves open hold the status and nothing else. */
export const sendProblem = (reply: FastifyReply, status: number): FastifyReply =>
  reply
    .code(status)
    .type(JSON_TYPE)
    .send(JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status }))

export const sendRefusal = (reply: FastifyReply, messages: readonly string[]): FastifyReply =>
  reply
    .code(400)
    .type(JSON_TYPE)
    .send(JSON.stringify(validationBody(messages)))

export const sendJson = (reply: FastifyReply, text: string | Buffer): FastifyReply =>
  reply.type(JSON_TYPE).send(text)

export const sendEmpty = (reply: FastifyReply, status: number): FastifyReply => reply.code(status).send()

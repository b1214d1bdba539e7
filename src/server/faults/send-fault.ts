/** Faults that come instead of an answer. */

import type { FastifyReply } from 'fastify'
import { COMPANY_MESSAGES } from '../../contract/messages.ts'
import { sendEmpty, sendRefusal } from '../http/replies.ts'
import type { FaultOf, FaultRule, RuleOf } from './fault-kinds.ts'

/** A host that cannot be: nobody shall get a token by a redirect. */
const ELSEWHERE = 'http://elsewhere.invalid/'
const PROXY_PAGE =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n'

type Sender = (reply: FastifyReply, rule: FaultRule) => FastifyReply

const withRetryAfter =
  (status: number): Sender =>
  (reply, { retryAfter }) =>
    sendEmpty(retryAfter === undefined ? reply : reply.header('retry-after', retryAfter), status)

const SENDERS: Readonly<Record<FaultOf<'instead'>, Sender>> = {
  '429': withRetryAfter(429),
  '500': (reply) => sendEmpty(reply, 500),
  '502': (reply) => reply.code(502).type('text/html').send(PROXY_PAGE),
  '503': withRetryAfter(503),
  reset: (reply) => {
    reply.hijack()
    reply.raw.socket?.resetAndDestroy()
    return reply
  },
  // The layer ends these connections when the server stops.
  stall: (reply) => reply.hijack(),
  expiredCursor: (reply) => sendRefusal(reply, [COMPANY_MESSAGES.cursorInvalid.text]),
  redirect: (reply, { location = ELSEWHERE }) => sendEmpty(reply.header('location', location), 307),
}

/** Answers with a fault that comes instead. */
export const sendFault = (reply: FastifyReply, rule: RuleOf<'instead'>): FastifyReply =>
  SENDERS[rule.fault](reply, rule)

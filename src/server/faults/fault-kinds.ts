/** The faults that the server can inject: each an entry of this table, with what it does. */

import { COMPANY_MESSAGES } from '../../contract/messages.ts'
import { sendEmpty, sendRefusal } from '../http/replies.ts'
import type { Fault } from './fault-form.ts'
import { drops, firstBytes, half, withFlippedByte, writeAnswer } from './write-answer.ts'

/** A host that cannot be: nobody shall get a token by a redirect. */
const ELSEWHERE = 'http://elsewhere.invalid/'
const PROXY_PAGE =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n'

/** A status without a body, with `retryAfter` where given. */
const refusal = (status: number): Fault => ({
  stage: 'instead',
  about: `${status}, with \`retryAfter\` (seconds, or a date as text) where given`,
  options: ['retryAfter'],
  send: (reply, { retryAfter }) =>
    sendEmpty(retryAfter === undefined ? reply : reply.header('retry-after', retryAfter), status),
})

export const FAULT_KINDS = {
  '429': refusal(429),
  '500': { stage: 'instead', about: '500 without a body', send: (reply) => sendEmpty(reply, 500) },
  '502': {
    stage: 'instead',
    about: '502 with a page of HTML, as a proxy sends it',
    send: (reply) => reply.code(502).type('text/html').send(PROXY_PAGE),
  },
  '503': refusal(503),
  reset: {
    stage: 'instead',
    about: 'the connection is reset before the answer',
    send: (reply) => {
      reply.hijack()
      reply.raw.socket?.resetAndDestroy()
      return reply
    },
  },
  resetInBody: {
    stage: 'body',
    about: 'the connection is reset after half of the body',
    write: async (raw, answer) => {
      const { socket } = raw
      await writeAnswer(raw, answer, answer.totalBytes, firstBytes(answer.chunks, half(answer)))
      socket?.resetAndDestroy()
    },
  },
  truncated: {
    stage: 'body',
    about: 'the connection ends after half of the announced `Content-Length`',
    write: async (raw, answer) => {
      const { socket } = raw
      await writeAnswer(raw, answer, answer.totalBytes, firstBytes(answer.chunks, half(answer)))
      socket?.end()
    },
  },
  truncatedUnannounced: {
    stage: 'body',
    about: 'half of the body without `Content-Length`, ended cleanly',
    write: async (raw, answer) => {
      await writeAnswer(raw, answer, undefined, firstBytes(answer.chunks, half(answer)))
      raw.end()
    },
  },
  // The layer ends these connections when the server stops.
  stall: {
    stage: 'instead',
    about: 'no answer ever; the connection stays open',
    send: (reply) => reply.hijack(),
  },
  drip: {
    stage: 'body',
    about: 'the body comes at `bytesPerSecond` (default 1000)',
    options: ['bytesPerSecond'],
    write: async (raw, answer, { bytesPerSecond = 1000 }, signal) => {
      await writeAnswer(raw, answer, answer.totalBytes, drops(answer.chunks, bytesPerSecond, signal))
      raw.end()
    },
  },
  halfDocument: {
    stage: 'body',
    about: 'half of the body, with a `Content-Length` that says it is all',
    write: async (raw, answer) => {
      await writeAnswer(raw, answer, half(answer), firstBytes(answer.chunks, half(answer)))
      raw.end()
    },
  },
  damaged: {
    stage: 'body',
    about: 'one byte of the body is changed; length, `ETag` and digest stay',
    write: async (raw, answer) => {
      await writeAnswer(raw, answer, answer.totalBytes, withFlippedByte(answer.chunks, half(answer)))
      raw.end()
    },
  },
  changedETag: {
    stage: 'head',
    about: '`batchFile` only: another `ETag`, and all of the file where `If-Range` has the right one',
    onRequest: ({ headers }) => {
      if (headers['if-range'] !== undefined) headers.range = undefined
    },
    onAnswer: (reply) => {
      reply.header('etag', String(reply.getHeader('etag')).replace('"', '"changed-'))
    },
  },
  duplicatePage: {
    stage: 'page',
    about: 'the previous page of the chain again, in place of the next; on a first page nothing',
    after: (before) => before,
  },
  emptyLastPage: {
    stage: 'last page',
    about: 'a cursor on the last page, which leads to an empty one; counts last pages only',
    end: (others) => ({ ...others, Cursor: endCursorOf(others) }),
  },
  omittedCursor: {
    stage: 'last page',
    about: 'no `Cursor` on the last page; counts last pages only',
    end: (others) => others,
  },
  expiredCursor: {
    stage: 'instead',
    about: '400, `Cursor has not a valid value.`',
    send: (reply) => sendRefusal(reply, [COMPANY_MESSAGES.cursorInvalid.text]),
  },
  redirect: {
    stage: 'instead',
    about: '307 to another host, or to `location`',
    options: ['location'],
    send: (reply, { location = ELSEWHERE }) => sendEmpty(reply.header('location', location), 307),
  },
} as const satisfies Readonly<Record<string, Fault>>

export type FaultKind = keyof typeof FAULT_KINDS
export const FAULT_NAMES = Object.keys(FAULT_KINDS) as readonly FaultKind[]
export const faultOf = (kind: FaultKind): Fault => FAULT_KINDS[kind]

/** A cursor that leads to an empty page: it holds the pagination of the page before. */

const BEGINNING = 'empty-last-page.'

export const isEndCursor = (cursor: string): boolean => cursor.startsWith(BEGINNING)

export const endCursorOf = (pagination: object): string =>
  `${BEGINNING}${Buffer.from(JSON.stringify(pagination)).toString('base64url')}`

/** The pagination that an end cursor holds, as JSON text. */
export const paginationIn = (cursor: string): string =>
  Buffer.from(cursor.slice(BEGINNING.length), 'base64url').toString()

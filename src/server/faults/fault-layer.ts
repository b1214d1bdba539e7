/** The faults as a layer around the routes, which do not know it. */

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FIRST_CURSOR } from '../../contract/limits.ts'
import { PAGINATION_HEADER } from '../../contract/pagination.ts'
import { sendJson } from '../http/replies.ts'
import {
  type FaultOf,
  type FaultRule,
  type FaultTarget,
  isOfStage,
  type RuleOf,
  targetOf,
} from './fault-kinds.ts'
import { newFaultPlan } from './fault-plan.ts'
import { sendFault } from './send-fault.ts'
import { writeFaulty } from './write-faulty.ts'

/** A cursor that leads to an empty page: this, and the pagination of the page before in base64url. */
const END_CURSOR = 'empty-last-page.'

interface Page {
  readonly pagination: string
  readonly body: unknown
}

const targetFor = (request: FastifyRequest): FaultTarget | undefined => {
  const { operation } = request.routeOptions.config
  return operation === undefined ? undefined : targetOf(operation)
}

/** What a page's request asks for: the cursor, and what all requests of its chain have in common. */
interface Asked {
  readonly cursor: string
  readonly chain: string
}
const askedBy = ({ body, entry }: FastifyRequest, target: FaultTarget): Asked => {
  try {
    const asked: unknown = JSON.parse(String(body))
    const { Cursor: cursor = '', ...others } = { Cursor: undefined, ...Object(asked) }
    return { cursor: String(cursor), chain: JSON.stringify([target, entry?.caller.name, others]) }
  } catch {
    return { cursor: '', chain: '' }
  }
}

const paginationOf = (reply: FastifyReply): Readonly<Record<string, unknown>> =>
  JSON.parse(String(reply.getHeader(PAGINATION_HEADER)))

const sendPage = (reply: FastifyReply, { pagination, body }: Page): FastifyReply =>
  reply.header(PAGINATION_HEADER, pagination).type('application/json; charset=utf-8').send(body)

const sendEmptyPage = (reply: FastifyReply, target: FaultTarget, cursor: string): FastifyReply => {
  const before = Buffer.from(cursor.slice(END_CURSOR.length), 'base64url').toString()
  const pagination = { ...JSON.parse(before), Count: 0, Cursor: null }
  reply.header(PAGINATION_HEADER, JSON.stringify(pagination))
  return sendJson(reply, target === 'companies' ? '{"Companies":[]}' : '{"Relations":[]}')
}

/** The pagination of a last page, from that without a Cursor. */
const OTHER_ENDS: Readonly<Record<FaultOf<'last page'>, (others: object) => object>> = {
  emptyLastPage: (others) => ({
    ...others,
    Cursor: `${END_CURSOR}${Buffer.from(JSON.stringify(others)).toString('base64url')}`,
  }),
  omittedCursor: (others) => others,
}

const otherEnd = (pagination: Readonly<Record<string, unknown>>, rule: RuleOf<'last page'>): string => {
  const { Cursor: _, ...others } = pagination
  return JSON.stringify(OTHER_ENDS[rule.fault](others))
}

/** The page that is sent in place of the next, from the one before. */
const OTHER_PAGES: Readonly<Record<FaultOf<'page'>, (before: Page) => Page>> = {
  duplicatePage: (before) => before,
}

/** What a fault changes in the request for a file and in the head of its answer. */
interface HeadFault {
  readonly onRequest: (request: FastifyRequest) => void
  readonly onAnswer: (reply: FastifyReply) => void
}
const HEAD_FAULTS: Readonly<Record<FaultOf<'head'>, HeadFault>> = {
  changedETag: {
    // To a file with another ETag a condition on the right one does not apply: the whole of it is sent.
    onRequest: ({ headers }) => {
      if (headers['if-range'] !== undefined) headers.range = undefined
    },
    onAnswer: (reply) => {
      reply.header('etag', String(reply.getHeader('etag')).replace('"', '"changed-'))
    },
  },
}

const chunksOf = async function* (payload: unknown): AsyncGenerator<Buffer> {
  if (typeof payload === 'string') yield Buffer.from(payload)
  else if (Buffer.isBuffer(payload)) yield payload
  else if (payload instanceof Readable) for await (const chunk of payload) yield chunk
}
const lengthOf = (reply: FastifyReply, payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload)
    ? Buffer.byteLength(payload)
    : Number(reply.getHeader('content-length') ?? 0)

declare module 'fastify' {
  interface FastifyRequest {
    /** The fault to inject into the answer's body. */
    fault: FaultRule | null
  }
}

/** A layer for `ServerParts`. */
export const faultLayer =
  (rules: readonly FaultRule[]) =>
  (app: FastifyInstance): void => {
    app.decorateRequest('fault', null)
    const plan = newFaultPlan(rules)
    const keepsPages = rules.some((rule) => isOfStage(rule, 'page'))
    /** The last page of each chain that is under way. */
    const pages = new Map<string, Page>()
    /** Answers of the layer itself: no fault sets in on them. */
    const own = new WeakSet<FastifyReply>()
    const open = new Set<FastifyReply>()
    const stop = new AbortController()

    app.addHook('preHandler', async (request, reply) => {
      const target = targetFor(request)
      if (target === undefined) return
      const { cursor, chain } = askedBy(request, target)
      if (cursor === '' || cursor === FIRST_CURSOR) pages.delete(chain)
      if (cursor.startsWith(END_CURSOR)) {
        own.add(reply)
        return sendEmptyPage(reply, target, cursor)
      }
      const rule = plan.next(target)
      if (!rule) return
      const page = pages.get(chain)
      if (isOfStage(rule, 'page')) {
        if (!page) return
        own.add(reply)
        return sendPage(reply, OTHER_PAGES[rule.fault](page))
      }
      if (isOfStage(rule, 'instead')) {
        open.add(reply)
        reply.raw.once('close', () => open.delete(reply))
        return sendFault(reply, rule)
      }
      request.fault = rule
      if (isOfStage(rule, 'head')) HEAD_FAULTS[rule.fault].onRequest(request)
    })

    app.addHook('onSend', (request, reply, payload, done) => {
      const target = targetFor(request)
      if (target === undefined || reply.statusCode >= 300 || own.has(reply)) return done(null, payload)
      const rule = request.fault
      if (rule && isOfStage(rule, 'head')) HEAD_FAULTS[rule.fault].onAnswer(reply)
      if (reply.hasHeader(PAGINATION_HEADER)) {
        const pagination = paginationOf(reply)
        const atEnd = pagination.Cursor === null ? plan.nextLastPage(target) : undefined
        if (atEnd && isOfStage(atEnd, 'last page'))
          reply.header(PAGINATION_HEADER, otherEnd(pagination, atEnd))
        const { chain } = askedBy(request, target)
        if (pagination.Cursor === null) pages.delete(chain)
        else if (keepsPages)
          pages.set(chain, { pagination: String(reply.getHeader(PAGINATION_HEADER)), body: payload })
      }
      if (!rule || !isOfStage(rule, 'body')) return done(null, payload)
      const answer = {
        status: reply.statusCode,
        headers: reply.getHeaders(),
        totalBytes: lengthOf(reply, payload),
        chunks: chunksOf(payload),
      }
      reply.hijack()
      void writeFaulty(reply.raw, answer, { rule, signal: stop.signal })
    })

    app.addHook('preClose', async () => {
      stop.abort()
      for (const reply of open) reply.raw.destroy()
    })
  }

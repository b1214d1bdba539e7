/** The faults as a layer around the routes. Without rules nothing of it is there. */

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FIRST_CURSOR } from '../../contract/limits.ts'
import { PAGINATION_HEADER } from '../../contract/pagination.ts'
import { type FaultRule, type FaultTarget, stageOf, targetOf } from '../faults/fault-kinds.ts'
import { newFaultPlan } from '../faults/fault-plan.ts'
import { sendFault } from './fault-answers.ts'
import { writeFaulty } from './fault-bodies.ts'
import { sendJson } from './replies.ts'

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

/** The header of a last page, with a cursor to an empty one or with none at all. */
const otherEnd = (pagination: Readonly<Record<string, unknown>>, { fault }: FaultRule): string => {
  const { Cursor: _, ...others } = pagination
  if (fault === 'omittedCursor') return JSON.stringify(others)
  const cursor = `${END_CURSOR}${Buffer.from(JSON.stringify(others)).toString('base64url')}`
  return JSON.stringify({ ...others, Cursor: cursor })
}

const otherTag = (etag: string): string => etag.replace('"', '"changed-')

const chunksOf = async function* (payload: unknown): AsyncGenerator<Buffer> {
  if (typeof payload === 'string') yield Buffer.from(payload)
  else if (Buffer.isBuffer(payload)) yield payload
  else if (payload instanceof Readable) for await (const chunk of payload) yield chunk
}
const lengthOf = (reply: FastifyReply, payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload)
    ? Buffer.byteLength(payload)
    : Number(reply.getHeader('content-length') ?? 0)

export const addFaultLayer = (app: FastifyInstance, rules: readonly FaultRule[]): void => {
  app.decorateRequest('fault', null)
  if (rules.length === 0) return
  const plan = newFaultPlan(rules)
  const keepsPages = rules.some(({ fault }) => fault === 'duplicatePage')
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
    if (rule.fault === 'duplicatePage') {
      if (!page) return
      own.add(reply)
      return sendPage(reply, page)
    }
    if (stageOf(rule.fault) === 'instead') {
      open.add(reply)
      reply.raw.once('close', () => open.delete(reply))
      return sendFault(reply, rule)
    }
    request.fault = rule
    // To a file with another ETag a condition on the right one does not apply: the whole of it is sent.
    if (rule.fault === 'changedETag' && request.headers['if-range'] !== undefined)
      request.headers.range = undefined
  })

  app.addHook('onSend', (request, reply, payload, done) => {
    const target = targetFor(request)
    if (target === undefined || reply.statusCode >= 300 || own.has(reply)) return done(null, payload)
    const rule = request.fault
    if (rule?.fault === 'changedETag') reply.header('etag', otherTag(String(reply.getHeader('etag'))))
    if (reply.hasHeader(PAGINATION_HEADER)) {
      const pagination = paginationOf(reply)
      const atEnd = pagination.Cursor === null ? plan.nextLastPage(target) : undefined
      if (atEnd) reply.header(PAGINATION_HEADER, otherEnd(pagination, atEnd))
      const { chain } = askedBy(request, target)
      if (pagination.Cursor === null) pages.delete(chain)
      else if (keepsPages)
        pages.set(chain, { pagination: String(reply.getHeader(PAGINATION_HEADER)), body: payload })
    }
    if (!rule || stageOf(rule.fault) !== 'body') return done(null, payload)
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

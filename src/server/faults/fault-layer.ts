/** The faults as a layer around the routes, which do not know it. */

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FIRST_CURSOR } from '../../contract/limits.ts'
import { PAGINATION_HEADER } from '../../contract/pagination.ts'
import { sendJson } from '../http/replies.ts'
import type { SentPage } from './fault-form.ts'
import { faultOf, isEndCursor, paginationIn } from './fault-kinds.ts'
import { type FaultRule, type FaultTarget, newFaultPlan, targetOf } from './fault-rules.ts'

const targetFor = (request: FastifyRequest): FaultTarget | undefined => {
  const { operation } = request.routeOptions.config
  return operation === undefined ? undefined : targetOf(operation)
}

/** A request for a page: its cursor, and the key that all requests of its chain share. */
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

const sendPage = (reply: FastifyReply, { pagination, body }: SentPage): FastifyReply =>
  reply.header(PAGINATION_HEADER, pagination).type('application/json; charset=utf-8').send(body)

const sendEmptyPage = (reply: FastifyReply, target: FaultTarget, cursor: string): FastifyReply => {
  const pagination = { ...JSON.parse(paginationIn(cursor)), Count: 0, Cursor: null }
  reply.header(PAGINATION_HEADER, JSON.stringify(pagination))
  return sendJson(reply, target === 'companies' ? '{"Companies":[]}' : '{"Relations":[]}')
}

const withoutCursor = ({ Cursor: _, ...others }: Readonly<Record<string, unknown>>): object => others

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
    const keepsPages = rules.some(({ fault }) => faultOf(fault).stage === 'page')
    /** The last page of each chain that is under way. */
    const pages = new Map<string, SentPage>()
    /** Answers of the layer itself: no fault sets in on them. */
    const own = new WeakSet<FastifyReply>()
    const open = new Set<FastifyReply>()
    const stop = new AbortController()

    app.addHook('preHandler', async (request, reply) => {
      const target = targetFor(request)
      if (target === undefined) return
      const { cursor, chain } = askedBy(request, target)
      if (cursor === '' || cursor === FIRST_CURSOR) pages.delete(chain)
      if (isEndCursor(cursor)) {
        own.add(reply)
        return sendEmptyPage(reply, target, cursor)
      }
      const rule = plan.next(target)
      if (!rule) return
      const fault = faultOf(rule.fault)
      if (fault.stage === 'page') {
        const before = pages.get(chain)
        if (!before) return
        own.add(reply)
        return sendPage(reply, fault.after(before))
      }
      if (fault.stage === 'instead') {
        open.add(reply)
        reply.raw.once('close', () => open.delete(reply))
        return fault.send(reply, rule)
      }
      request.fault = rule
      if (fault.stage === 'head') fault.onRequest(request)
    })

    app.addHook('onSend', (request, reply, payload, done) => {
      const target = targetFor(request)
      if (target === undefined || reply.statusCode >= 300 || own.has(reply)) return done(null, payload)
      const rule = request.fault
      const fault = rule && faultOf(rule.fault)
      if (fault?.stage === 'head') fault.onAnswer(reply)
      if (reply.hasHeader(PAGINATION_HEADER)) {
        const pagination = paginationOf(reply)
        const atEnd = pagination.Cursor === null ? plan.nextLastPage(target) : undefined
        const end = atEnd && faultOf(atEnd.fault)
        if (end?.stage === 'last page')
          reply.header(PAGINATION_HEADER, JSON.stringify(end.end(withoutCursor(pagination))))
        const { chain } = askedBy(request, target)
        if (pagination.Cursor === null) pages.delete(chain)
        else if (keepsPages)
          pages.set(chain, { pagination: String(reply.getHeader(PAGINATION_HEADER)), body: payload })
      }
      if (fault?.stage !== 'body') return done(null, payload)
      const answer = {
        status: reply.statusCode,
        headers: reply.getHeaders(),
        totalBytes: lengthOf(reply, payload),
        chunks: chunksOf(payload),
      }
      reply.hijack()
      // Never fails: what goes wrong ends the connection.
      void fault.write(reply.raw, answer, rule ?? {}, stop.signal).catch(() => reply.raw.destroy())
    })

    app.addHook('preClose', async () => {
      stop.abort()
      for (const reply of open) reply.raw.destroy()
    })
  }

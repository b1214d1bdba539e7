/** Numbers for Prometheus. They name routes, methods and statuses: no token, no caller, no data. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { ToolkitError } from '../../core/errors.ts'
import { statusOfRefusal, writeRefusal } from './guard.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** A finished request. */
export interface Observation {
  readonly route: string
  readonly method: string
  readonly status: string
  readonly seconds: number
  readonly bytes: number
}

export interface Metrics {
  readonly contentType: string
  text(): Promise<string>
  begun(): void
  ended(observation: Observation): void
  records(content: string, count: number): void
  throttled(): void
  /** Bytes that the parser refuses: no request. */
  refused(status: number): void
  /** A connection beyond the limit. */
  dropped(): void
}

/** Metrics of the process are observed as long as it runs: once, whichever servers it has opened and closed. */
let ofProcess: Registry | undefined
const processRegistry = (): Registry => {
  if (ofProcess === undefined) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

/** @param snapshot gives the number of the one that is served */
export const newMetrics = (snapshot: () => number): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  const whole = processRegistry()
  const requests = new Counter({
    name: 'firmlake_http_requests_total',
    help: 'Requests by route, method and status; status "none" where the connection ended before an answer.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const duration = new Histogram({
    name: 'firmlake_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  })
  const bytes = new Counter({
    name: 'firmlake_http_response_bytes_total',
    help: 'Bytes sent, heads included.',
    labelNames: ['route'],
    registers,
  })
  const records = new Counter({
    name: 'firmlake_records_total',
    help: 'Records in answers to searches.',
    labelNames: ['content'],
    registers,
  })
  const throttled = new Counter({
    name: 'firmlake_http_throttled_total',
    help: 'Requests refused by a limit of their token, or of failed sign-ins of their address.',
    registers,
  })
  const dropped = new Counter({
    name: 'firmlake_http_dropped_connections_total',
    help: 'Connections closed at once, since there were too many.',
    registers,
  })
  const inFlight = new Gauge({
    name: 'firmlake_http_requests_in_flight',
    help: 'Requests at work.',
    registers,
  })
  new Gauge({
    name: 'firmlake_snapshot',
    help: 'Number of the snapshot that is served.',
    registers,
    collect() {
      this.set(snapshot())
    },
  })
  return {
    contentType: registry.contentType,
    text: async () => `${await whole.metrics()}\n${await registry.metrics()}`,
    begun: () => inFlight.inc(),
    ended: ({ route, method, status, seconds, bytes: sent }) => {
      inFlight.dec()
      requests.inc({ route, method, status })
      duration.observe({ route }, seconds)
      bytes.inc({ route }, sent)
    },
    records: (content, count) => records.inc({ content }, count),
    throttled: () => throttled.inc(),
    refused: (status) => requests.inc({ route: NO_ROUTE, method: NO_ROUTE, status: String(status) }),
    dropped: () => dropped.inc(),
  }
}

// Every request is counted and logged when its connection has nothing more to send, also where the answer was cut. The log
// names the declared route, never the address, the body, a header or a token.

/** Label of a request that matches no route, and the method of what is no request. */
const NO_ROUTE = 'none'

/** Options of fastify: lines of JSON without process and host, and only our own of each request. */
export const loggerOptions = (
  log: { write(line: string): void } | undefined,
): Pick<FastifyServerOptions, 'logger' | 'logController'> => ({
  logger: log
    ? {
        level: 'warn',
        stream: log,
        base: null,
        messageKey: 'message',
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
        formatters: { level: (label: string) => ({ level: label }) },
        // Whatever is logged of an error by others: its kind, not its words, which may quote data.
        serializers: { req: () => ({}), res: () => ({}), err: errorKind },
      }
    : false,
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
})

/** Codes whose messages may quote DuckDB, and DuckDB quotes data. */
const QUOTING: readonly string[] = ['QUERY_FAILED', 'ENGINE_FAILED']

const errorKind = (error: Error): { type: string; message: string; stack: string } => {
  const code = 'code' in error ? String(error.code) : ''
  const isReportable = error instanceof ToolkitError && !QUOTING.includes(code)
  return { type: error.name, message: isReportable ? `${code}: ${error.message}` : code, stack: '' }
}

/** Begins to watch a request; it is counted and logged when its connection has nothing more to send. */
type Observe = (request: FastifyRequest, reply: FastifyReply) => void

/** Answers and ends a connection on which something came that is no request. */
type Refuse = (socket: Socket, error: Error) => void

const observer = (
  access: FastifyBaseLogger,
  metrics: Metrics,
): { readonly observe: Observe; readonly refuse: Refuse } => {
  /** The answer under way on a connection, and with what it is refused after its head has come. */
  const underWay = new WeakMap<Socket, ServerResponse>()
  const refusedWith = new WeakMap<ServerResponse, number>()
  const refuse: Refuse = (socket, error) => {
    const status = statusOfRefusal(error, socket)
    const response = underWay.get(socket)
    if (status !== undefined && !response?.headersSent) writeRefusal(socket, status)
    socket.destroy()
    if (status === undefined) return
    if (response) refusedWith.set(response, status)
    else {
      metrics.refused(status)
      access.info({ request: null, method: null, route: NO_ROUTE, status, token: null }, 'refused')
    }
  }
  const observe: Observe = (request, { raw }) => {
    const begun = performance.now()
    const { socket } = raw
    const bytesBefore = socket?.bytesWritten ?? 0
    if (socket) underWay.set(socket, raw)
    metrics.begun()
    raw.once('close', () => {
      if (socket && underWay.get(socket) === raw) underWay.delete(socket)
      const ms = performance.now() - begun
      const { method } = request
      const route = request.routeOptions.url ?? NO_ROUTE
      const bytes = (socket?.bytesWritten ?? 0) - bytesBefore
      const status = raw.headersSent ? raw.statusCode : (refusedWith.get(raw) ?? null)
      metrics.ended({ route, method, status: String(status ?? 'none'), seconds: ms / 1000, bytes })
      access.info(
        {
          request: request.id,
          method,
          route,
          status,
          ms: Math.round(ms * 10) / 10,
          bytes,
          token: request.entry?.caller.name ?? null,
          ...(!raw.writableFinished && { cut: true }),
        },
        'request',
      )
    })
  }
  return { observe, refuse }
}

/** @returns what watches the requests that come to no hook, since their address or more of them cannot be read */
export const addObservation = (app: FastifyInstance, metrics: Metrics): ReturnType<typeof observer> => {
  const watching = observer(app.log.child({}, { level: 'info' }), metrics)
  app.addHook('onRequest', async (request, reply) => watching.observe(request, reply))
  app.server.on('drop', metrics.dropped)
  return watching
}

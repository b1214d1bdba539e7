/**
 * Counts and logs every request when its connection has nothing more to send, also where the answer was cut. The
 * log names the route as it is declared, never the address, the body, a header or a token.
 */

import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import { ToolkitError } from '../../core/errors.ts'
import type { Metrics } from './metrics.ts'

/** Where a request went that matches no route. */
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

const observer =
  (access: FastifyBaseLogger, metrics: Metrics): Observe =>
  (request, { raw }) => {
    const begun = performance.now()
    const { socket } = raw
    const bytesBefore = socket?.bytesWritten ?? 0
    metrics.begun()
    raw.once('close', () => {
      const ms = performance.now() - begun
      const { method } = request
      const route = request.routeOptions.url ?? NO_ROUTE
      const bytes = (socket?.bytesWritten ?? 0) - bytesBefore
      const status = raw.headersSent ? raw.statusCode : null
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

/** @returns what watches the requests that come to no hook, since their address cannot be read */
export const addObservation = (app: FastifyInstance, metrics: Metrics): Observe => {
  const observe = observer(app.log.child({}, { level: 'info' }), metrics)
  app.addHook('onRequest', async (request, reply) => observe(request, reply))
  return observe
}

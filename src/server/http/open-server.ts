/** The HTTP server of the interface: every operation, its document, health and numbers. Knows no lake. */

import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { SERVER_LIMITS } from '../../core/server-limits.ts'
import { openApiDocument } from '../openapi/openapi-document.ts'
import { addAuthentication, watchMethods } from './authenticate.ts'
import { addBatchRoute } from './batch-route.ts'
import { addExplorerRoutes } from './explorer-routes.ts'
import { addGuard, withHeaders } from './guard.ts'
import { addListingRoutes } from './listing-routes.ts'
import { addObservation, loggerOptions, newMetrics } from './metrics.ts'
import { addRateLimit } from './rate-limit.ts'
import { addErrorAnswers, sendJson, sendProblem } from './replies.ts'
import { addBodyReader, addSearchRoutes } from './search-routes.ts'
import type { RunningServer, ServerOptions, ServerParts } from './server-parts.ts'

const DEFAULTS = {
  host: '127.0.0.1',
  bodyLimitBytes: SERVER_LIMITS.bodyBytes,
  headersTimeoutMs: SERVER_LIMITS.headMs,
  requestTimeoutMs: SERVER_LIMITS.requestMs,
  stallTimeoutMs: SERVER_LIMITS.stalledMs,
  stopTimeoutMs: SERVER_LIMITS.stopMs,
  requestsAtOnce: SERVER_LIMITS.requestsAtOnce,
}

/** Ids of files are short; a longer one is not found, as any other that there is not. */
const MOST_PARAMETER_CHARACTERS = 16_384

/** Answers where no hook is called: to requests whose address cannot be read, and to bytes that are no request. */
interface Outside {
  readonly onBadAddress: (request: FastifyRequest, reply: FastifyReply) => void
  readonly onClientError: (socket: Socket, error: Error) => void
}

const newApp = (options: ServerOptions, outside: () => Outside): FastifyInstance => {
  const { bodyLimitBytes, headersTimeoutMs, requestTimeoutMs } = { ...DEFAULTS, ...options }
  const { proxies = [], maxConnections = SERVER_LIMITS.connections } = options
  const app = fastify({
    ...loggerOptions(options.log),
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: SERVER_LIMITS.idleMs,
    forceCloseConnections: 'idle',
    // Any other client could write an address of its own choice into the header.
    trustProxy: proxies.length > 0 && [...proxies],
    routerOptions: { maxParamLength: MOST_PARAMETER_CHARACTERS },
    frameworkErrors: (_error, request, reply) => outside().onBadAddress(request, reply),
    clientErrorHandler: (error, socket) => outside().onClientError(socket, error),
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.min(SERVER_LIMITS.checkEveryMs, headersTimeoutMs, requestTimeoutMs),
      // The guard does, so that the refusal is logged.
      requireHostHeader: false,
    },
  })
  app.server.maxConnections = maxConnections
  return app
}

const addRoutes = async (
  app: FastifyInstance,
  parts: ServerParts,
  options: ServerOptions,
): Promise<Outside> => {
  const limits = { ...DEFAULTS, ...options, requestsPerSecond: options.requestsPerSecond }
  const metrics = newMetrics(() => parts.served().number)
  addErrorAnswers(app)
  addBodyReader(app)
  const { observe, refuse } = addObservation(app, metrics)
  addGuard(app, limits)
  addAuthentication(app, parts, metrics.throttled)
  addRateLimit(app, limits, metrics.throttled)
  for (const add of parts.layers ?? []) add(app)
  const methods = watchMethods(app)
  addSearchRoutes(app, parts, metrics)
  addListingRoutes(app, parts)
  addBatchRoute(app, parts.batches)
  addExplorerRoutes(app, parts)
  const document = JSON.stringify(openApiDocument())
  app.get('/openapi.json', (_request, reply) => sendJson(reply, document))
  const health = (): string => JSON.stringify({ status: 'ok', snapshot: parts.served().number })
  app.get('/healthz', (_request, reply) => sendJson(reply, health()))
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  methods.answerOthers()
  return {
    onBadAddress: (request, reply) => {
      observe(request, reply)
      sendProblem(withHeaders(reply).header('connection', 'close'), 400)
    },
    onClientError: refuse,
  }
}

/** Searches and questions under way: a stop must not close the lake under them. */
const tracked = <Asked extends readonly unknown[], Answer>(
  search: (...asked: Asked) => Promise<Answer>,
  working: Set<Promise<unknown>>,
): ((...asked: Asked) => Promise<Answer>) => {
  return (...asked) => {
    const answer = search(...asked)
    working.add(answer)
    const done = (): void => {
      working.delete(answer)
    }
    answer.then(done, done)
    return answer
  }
}

/** A connection that was busy when the stop began is idle when its answer is sent. */
const CLOSE_IDLE_EVERY_MS = 50

const stop = async (app: FastifyInstance, stopTimeoutMs: number): Promise<void> => {
  const idle = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
  const late = setTimeout(() => app.server.closeAllConnections(), stopTimeoutMs)
  try {
    await app.close()
  } finally {
    clearInterval(idle)
    clearTimeout(late)
  }
}

const listenReason = (code: string | undefined, port: number): string => {
  if (code === 'EADDRINUSE') return `port ${port} is in use by another process, expected a free one`
  if (code === 'EACCES') return `port ${port} is not for this user, expected one from 1024`
  if (code === 'EADDRNOTAVAIL') return 'the address is none of this machine'
  return code ?? 'the system refuses'
}

/**
 * Listens for requests.
 *
 * @throws {ToolkitError} LISTEN_FAILED
 */
export const openServer = async (parts: ServerParts, options: ServerOptions): Promise<RunningServer> => {
  const { host, stopTimeoutMs } = { ...DEFAULTS, ...options }
  const { port } = options
  const app = newApp(options, () => outside)
  const working = new Set<Promise<unknown>>()
  const companies = tracked(parts.companies, working)
  const relations = tracked(parts.relations, working)
  const askExplorer = tracked(parts.askExplorer, working)
  const outside = await addRoutes(app, { ...parts, companies, relations, askExplorer }, options)
  try {
    const address = await app.listen({ host, port })
    return {
      address,
      close: async () => {
        await stop(app, stopTimeoutMs)
        await Promise.allSettled(working)
      },
    }
  } catch (error) {
    await app.close()
    const reason = listenReason(systemCode(error), port)
    throw new ToolkitError(
      'LISTEN_FAILED',
      `Cannot listen at ${host}, port ${port}: ${reason}`,
      { host, port },
      error,
    )
  }
}

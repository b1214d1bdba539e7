/** The HTTP server of the interface: every operation, its document, health and numbers. Knows no lake. */

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { openApiDocument } from '../openapi/openapi-document.ts'
import { addAuthentication, watchMethods } from './authenticate.ts'
import { addBatchRoute } from './batch-route.ts'
import { addExplorerRoutes } from './explorer-routes.ts'
import { addListingRoutes } from './listing-routes.ts'
import { addObservation, loggerOptions, newMetrics } from './metrics.ts'
import { addRateLimit } from './rate-limit.ts'
import { addErrorAnswers, sendJson, sendProblem } from './replies.ts'
import { addBodyReader, addSearchRoutes } from './search-routes.ts'
import type { RunningServer, ServerOptions, ServerParts } from './server-parts.ts'

const DEFAULTS = {
  host: '127.0.0.1',
  bodyLimitBytes: 1 << 20,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 60_000,
  stopTimeoutMs: 10_000,
}
/** How often connections are checked for the two time-outs. */
const CHECK_EVERY_MS = 2000

/** Ids of files are short; a longer one is not found, as any other that there is not. */
const MOST_PARAMETER_CHARACTERS = 16_384

/** Answers requests whose address cannot be read, and which therefore come to no hook. */
type OnBadAddress = (request: FastifyRequest, reply: FastifyReply) => void

const newApp = (options: ServerOptions, onBadAddress: OnBadAddress): FastifyInstance => {
  const { bodyLimitBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = {
    ...DEFAULTS,
    ...options,
  }
  return fastify({
    ...loggerOptions(options.log),
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MOST_PARAMETER_CHARACTERS },
    frameworkErrors: (_error, request, reply) => onBadAddress(request, reply),
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersTimeoutMs, requestTimeoutMs),
    },
  })
}

const addRoutes = async (
  app: FastifyInstance,
  parts: ServerParts,
  options: ServerOptions,
): Promise<OnBadAddress> => {
  const metrics = newMetrics(() => parts.served().number)
  addErrorAnswers(app)
  addBodyReader(app)
  const observe = addObservation(app, metrics)
  addAuthentication(app, parts.tokens)
  addRateLimit(app, options.requestsPerSecond, metrics.throttled)
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
  return (request, reply) => {
    observe(request, reply)
    sendProblem(reply, 400)
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
  let answerBadAddress: OnBadAddress = (_request, reply) => sendProblem(reply, 400)
  const app = newApp(options, (request, reply) => answerBadAddress(request, reply))
  const working = new Set<Promise<unknown>>()
  const companies = tracked(parts.companies, working)
  const relations = tracked(parts.relations, working)
  const askExplorer = tracked(parts.askExplorer, working)
  answerBadAddress = await addRoutes(app, { ...parts, companies, relations, askExplorer }, options)
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

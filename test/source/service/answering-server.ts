/** A service of loopback that gives one prepared answer after the other, and a clock that never really waits. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ServiceOptions } from '../../../src/options/interfaces.ts'
import { createService, type Service, type Timing } from '../../../src/source/service/service.ts'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
export type Answer = (response: ServerResponse, request: Seen) => void

export interface AnsweringServer {
  readonly url: string
  readonly seen: readonly Seen[]
}

/** Answers in turn, the last one for ever. */
export const answeringServer = async (...answers: readonly Answer[]): Promise<AnsweringServer> => {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') }
      const answer = answers[Math.min(seen.length, answers.length - 1)]
      seen.push(one)
      answer?.(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen }
}

/** A clock that jumps over every pause and notes it. */
export const jumpingTiming = (random = 0.5): Timing & { readonly pauses: number[]; at: number } => {
  const timing = {
    at: Date.UTC(2026, 0, 1),
    pauses: [] as number[],
    now: () => timing.at,
    random: () => random,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted()
      timing.pauses.push(ms)
      timing.at += ms
    },
  }
  return timing
}

export const TOKEN = 'secret-token.of~the_test'

/** A client that is closed when the test is over. */
export const client = (url: string, options: Partial<ServiceOptions> = {}): Service => {
  const service = createService({
    url,
    token: TOKEN,
    timing: jumpingTiming(),
    maxRequestsPerSecond: 1000,
    ...options,
  })
  onTestFinished(() => service.close())
  return service
}

export const FACTS = { Count: 1, TotalCount: 1, PageSize: 10, TotalPages: 1, Cursor: null }

/** A page of the given body and header. */
export const page =
  (body: unknown = { Companies: [] }, facts: unknown = FACTS, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      ...(facts !== '' && {
        'X-Pagination': typeof facts === 'string' ? facts : JSON.stringify(facts),
      }),
      ...headers,
    })
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  }

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (response) => {
    response.writeHead(code, headers)
    response.end(body)
  }

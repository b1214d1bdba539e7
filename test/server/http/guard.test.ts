/** What holds for every request and answer, and what a client who means harm gets. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { SERVER_LIMITS } from '../../../src/core/server-limits.ts'
import { guesserOf } from '../../../src/server/http/authenticate.ts'
import { openServer } from '../../../src/server/http/open-server.ts'
import type { ServerOptions, ServerParts } from '../../../src/server/http/server-parts.ts'
import { bearer, fakeParts, get, openFake, post, rawRequest, TOKEN } from './open-fake.ts'

const socketTo = (url: string): Socket => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

/** Sends lines as they are. @returns all that comes until the server closes the connection */
const said = (url: string, lines: readonly string[], body = ''): Promise<string> => {
  const socket = socketTo(url)
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return text(socket)
}

const AUTHORIZED = `Authorization: Bearer ${TOKEN}`

/** A server whose log and numbers are looked at. */
const watched = async (parts: Partial<ServerParts> = {}, options: Partial<ServerOptions> = {}) => {
  const lines: { readonly route: string; readonly status: number | null; readonly cut?: true }[] = []
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const server = await openServer(fakeParts(parts), { port: 0, stopTimeoutMs: 200, log, ...options })
  onTestFinished(() => server.close())
  return {
    url: server.address,
    /** Statuses by route, without those of requests for the numbers. */
    logged: () => lines.flatMap(({ route, status }) => (route === '/metrics' ? [] : [[route, status]])),
    lines,
    number: async (name: string): Promise<number> => {
      const all = await (await get(`${server.address}/metrics`, {})).text()
      return Number(
        all
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1),
      )
    },
  }
}

test('every answer forbids to store it and to guess its type, refusals of the parser too', async () => {
  const url = await openFake({}, { bodyLimitBytes: 100 })
  const search = `${url}/v2/companies`
  const answers = [
    await post(search, {}),
    await post(search, {}, {}),
    await post(search, {}, { 'content-type': 'text/plain', ...bearer() }),
    await post(search, 'x'.repeat(200)),
    await get(search),
    await get(`${url}/v2/people`),
    await get(`${url}/v2/batches/batch-file/%zz`),
    await get(`${url}/v2/batches/batch-files`),
    await get(`${url}/v2/relations/search-parameters`),
    await post(`${url}/explorer/api/nothing`, {}),
    ...(await Promise.all(['/healthz', '/metrics', '/openapi.json'].map((path) => get(url + path)))),
  ]
  expect(answers.map(({ status }) => status)).toEqual([
    ...[200, 401, 415, 413, 405, 404, 400, 200, 200, 404],
    ...[200, 200, 200],
  ])
  for (const { status, headers } of answers)
    expect([status, headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      status,
      'no-store',
      'nosniff',
    ])
  expect(await said(url, ['no HTTP at all'])).toMatch(
    /^HTTP\/1\.1 400 Bad Request\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n/,
  )
  // The page's own files hold no data, and are asked for again.
  const page = await get(`${url}/`, {})
  expect([page.headers.get('cache-control'), page.headers.get('x-content-type-options')]).toEqual([
    'no-cache',
    'nosniff',
  ])
})

const LISTING = 'GET /v2/batches/batch-files HTTP/1.1'
const CLOSE = 'Connection: close'

test.each([
  ['two tokens', [LISTING, 'Host: x', AUTHORIZED, AUTHORIZED], 400],
  ['two tokens, one unknown', [LISTING, 'Host: x', 'authorization: Bearer y', AUTHORIZED], 400],
  ['two hosts', [LISTING, 'Host: x', 'host: y', AUTHORIZED], 400],
  ['no host', [LISTING, AUTHORIZED], 400],
  ['no host in the version that needs none', [LISTING.replace('1.1', '1.0'), AUTHORIZED], 200],
  ['one of each', [LISTING, 'Host: x', AUTHORIZED, CLOSE], 200],
])('a request with %s', async (_what, lines, status) => {
  const answer = await said(await openFake(), lines)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer).toContain('nosniff')
})

test.each([
  ['announced', 'Content-Length: 1000000000'],
  ['in chunks', 'Transfer-Encoding: chunked'],
])('of a request with an unknown token no body is read (%s)', async (_what, length) => {
  const { url, logged } = await watched()
  const socket = socketTo(url)
  socket.resume()
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(`POST /v2/companies HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`)
  const chunk = Buffer.alloc(1 << 16, 'x')
  let sent = 0
  while (!socket.destroyed && sent < 100_000_000) {
    if (length.startsWith('Transfer')) socket.write(`${chunk.length.toString(16)}\r\n`)
    socket.write(chunk)
    // The end of a chunk; of a body that is announced it is a part.
    const isTaken = new Promise<void>((resolve) => socket.write('\r\n', () => resolve()))
    await Promise.race([isTaken, closed])
    sent += chunk.length
  }
  // What the buffers of the system between the two take.
  expect(sent).toBeLessThan(30_000_000)
  await expect.poll(logged).toEqual([['/v2/companies', 401]])
})

test('a client that asks whether to send its body is told so only with a token', async () => {
  const url = await openFake()
  const lines = ['POST /v2/companies HTTP/1.1', 'Host: x', CLOSE, 'Expect: 100-continue', 'Content-Length: 2']
  expect(await said(url, lines)).toMatch(/^HTTP\/1\.1 401 /)
  expect(await said(url, [...lines, AUTHORIZED], '{}')).toMatch(
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /,
  )
  const other = lines.map((line) => line.replace('100-continue', 'something'))
  expect(await said(url, [...other, AUTHORIZED], '{}')).toMatch(/^HTTP\/1\.1 200 /)
})

test('what the parser refuses is in the log and the numbers', async () => {
  const { url, logged, number } = await watched({}, { headersTimeoutMs: 300, requestTimeoutMs: 600 })
  expect(await said(url, ['no HTTP at all'])).toMatch(/^HTTP\/1\.1 400 /)
  expect(await said(url, ['GET / HTTP/1.1', `X: ${'x'.repeat(20_000)}`])).toMatch(/^HTTP\/1\.1 431 /)
  const slow = socketTo(url)
  slow.write('GET / HTTP/1.1\r\n')
  expect(await text(slow)).toMatch(/^HTTP\/1\.1 408 /)
  const body = ['POST /v2/companies HTTP/1.1', 'Host: x', AUTHORIZED, 'Content-Length: 9']
  expect(await said(url, body, '{')).toMatch(/^HTTP\/1\.1 408 /)
  expect(logged()).toEqual([
    ['none', 400],
    ['none', 431],
    ['none', 408],
    ['/v2/companies', 408],
  ])
  for (const [status, count] of [
    ['400', 1],
    ['431', 1],
    ['408', 1],
  ])
    expect(await number(`firmlake_http_requests_total{route="none",method="none",status="${status}"}`)).toBe(
      count,
    )
  expect(await number('firmlake_http_requests_in_flight')).toBe(1)
})

test('what follows an answer and is no request is not answered into its midst', async () => {
  const answered = Promise.withResolvers<void>()
  const { url, logged } = await watched({
    companies: async () => {
      answered.resolve()
      return {
        kind: 'page',
        pagination: { Count: 0, TotalCount: 0, PageSize: 1, TotalPages: 0 },
        body: [BIG],
      }
    },
  })
  const socket = socketTo(url)
  socket.pause()
  const lines = ['POST /v2/companies HTTP/1.1', 'Host: x', AUTHORIZED, 'Content-Length: 2']
  socket.write(`${lines.join('\r\n')}\r\n\r\n{}`)
  await answered.promise
  await once(socket, 'readable')
  socket.write('no HTTP at all\r\n\r\n')
  expect(await text(socket)).not.toContain('HTTP/1.1 400')
  await expect.poll(logged).toEqual([['/v2/companies', 200]])
})

/** More than the buffers between the two take. */
const BIG = Buffer.alloc(64 << 20, 'x')

test('a client that takes nothing of its answer is let go', async () => {
  const { url, lines } = await watched(
    {
      companies: async () => ({
        kind: 'page',
        pagination: { Count: 0, TotalCount: 0, PageSize: 1, TotalPages: 0 },
        body: [BIG],
      }),
    },
    { stallTimeoutMs: 100 },
  )
  const answer = await rawRequest(`${url}/v2/companies`, { method: 'POST', body: '{}' })
  answer.on('error', () => undefined)
  await expect.poll(() => lines).toMatchObject([{ route: '/v2/companies', status: 200, cut: true }])
})

test('connections beyond the limit are closed at once and counted', async () => {
  const { url, number } = await watched({}, { maxConnections: 2 })
  const kept = [socketTo(url), socketTo(url)]
  await Promise.all(kept.map((socket) => once(socket, 'connect')))
  expect(await text(socketTo(url))).toBe('')
  for (const socket of kept) socket.destroy()
  await expect.poll(() => number('firmlake_http_dropped_connections_total').catch(() => 0)).toBeGreaterThan(0)
})

const signIn = async (url: string, token: string, from: string): Promise<Response> =>
  get(`${url}/v2/batches/batch-files`, { 'x-forwarded-for': from, ...(token !== '' && bearer(token)) })

test('an address with too many failed sign-ins waits, with a right token too, and no other address does', async () => {
  const { url, number } = await watched({}, { proxies: ['127.0.0.1'] })
  const { atOnce } = SERVER_LIMITS.failedSignIns
  // Who sends no token guesses none.
  for (let at = 0; at <= atOnce; at += 1) expect((await signIn(url, '', '192.0.2.1')).status).toBe(401)
  let failed = 0
  let last = await signIn(url, TOKEN, '192.0.2.1')
  expect(last.status).toBe(200)
  while (last.status !== 429) {
    last = await signIn(url, `guess-of-a-token-${failed}`, `192.0.2.9, 192.0.2.1`)
    failed += last.status === 401 ? 1 : 0
  }
  expect(failed).toBeGreaterThanOrEqual(atOnce)
  expect([last.headers.get('retry-after'), await last.text()]).toEqual(['1', ''])
  expect((await signIn(url, TOKEN, '192.0.2.2')).status).toBe(200)
  expect((await signIn(url, TOKEN, '192.0.2.9')).status).toBe(200)
  expect((await signIn(url, '', '192.0.2.1')).status).toBe(401)
  expect(await number('firmlake_http_throttled_total')).toBe(1)
})

test.each<[string, readonly string[] | undefined, (at: number) => string]>([
  ['nobody, where no proxy is named', undefined, (at) => `192.0.2.${at}`],
  ['nobody, where the list of proxies is empty', [], (at) => `192.0.2.${at}`],
  ['no other proxy than the one that is named', ['198.51.100.0/24'], (at) => `192.0.2.${at}`],
  [
    // What one that is not named says of a third is its own.
    'no proxy before one that is named',
    ['127.0.0.0/8', '198.51.100.0/24'],
    (at) => `192.0.2.${at}, 203.0.113.1, 198.51.100.7`,
  ],
])('%s says who asks', async (_what, proxies, from) => {
  const url = await openFake({}, { proxies })
  const { atOnce } = SERVER_LIMITS.failedSignIns
  const statuses = new Set<number>()
  for (let at = 0; at < 10 * atOnce && !statuses.has(429); at += 1)
    statuses.add((await signIn(url, `guess-of-a-token-${at}`, from(at))).status)
  expect([...statuses]).toEqual([401, 429])
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::', 'fe80:0:0:0'],
])('guesses of %s count as those of %s', (ip, guesser) => {
  expect(guesserOf(ip)).toBe(guesser)
})

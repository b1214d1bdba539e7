/** The client's pages against prepared answers over real HTTP: each class of failure, and what may pass. */

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import type { PageRequest } from '../../../src/source/service/service.ts'
import { pretendNode } from '../../support/pretend-node.ts'
import {
  type Answer,
  answeringServer,
  client,
  FACTS,
  jumpingTiming,
  page,
  status,
  TOKEN,
} from './answering-server.ts'

const REQUEST: PageRequest = {
  content: 'companies',
  search: { ContentUpdatedAt: ['2024-01-01', '2024-01-31'] },
  currency: 'SEK',
  pageSize: 500,
  cursor: '*',
}

/** Reads a body as JSON, a half one as such. */
const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new ToolkitError('ANSWER_INVALID', 'Half a document', { kind: 'half' }, error)
  }
}

test('page posts the request of the contract with the token and gives header and body back', async () => {
  const server = await answeringServer(
    page({ Companies: [1] }, { ...FACTS, Cursor: 'next' }, { Date: 'Sun, 06 Nov 1994 08:49:37 GMT' }),
  )
  const now = () => new Date('1994-11-06T18:00:00Z')
  const answer = await client(server.url, { now }).page(REQUEST, parse)
  expect(answer).toEqual({
    pagination: { ...FACTS, Cursor: 'next' },
    value: { Companies: [1] },
    asOf: '1994-11-06T08:49:37.000Z',
    dataAsOf: '1994-11-06T08:49:37.000Z',
  })
  const [seen] = server.seen
  expect(seen).toMatchObject({ method: 'POST', url: '/v2/companies' })
  expect(seen?.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
  })
  expect(JSON.parse(seen?.body ?? '')).toEqual({
    SearchParameters: { ContentUpdatedAt: ['2024-01-01', '2024-01-31'] },
    Currency: 'SEK',
    PageSize: 500,
    Cursor: '*',
  })
})

test('page leaves out of a relations request what relations do not know', async () => {
  const server = await answeringServer(page({ Relations: [] }))
  await client(server.url).page({ ...REQUEST, content: 'relations', pageNumber: 1, minified: true }, parse)
  expect(server.seen[0]?.url).toBe('/v2/relations')
  expect(Object.keys(JSON.parse(server.seen[0]?.body ?? ''))).toEqual([
    'SearchParameters',
    'PageSize',
    'Cursor',
  ])
})

const brokenOff: Answer = (response) => {
  response.writeHead(200, {
    'X-Pagination': JSON.stringify({ ...FACTS, Cursor: 'wrong' }),
    'Content-Length': '100',
  })
  response.write('{"Companies":[')
  setImmediate(() => response.destroy())
}
const brokenChunks: Answer = (response) => {
  response.writeHead(200, { 'X-Pagination': JSON.stringify({ ...FACTS, Cursor: 'wrong' }) })
  response.write('{"Companies":[')
  setImmediate(() => response.destroy())
}

test.each<[string, Answer]>([
  ['500', status(500)],
  ['502 with HTML', status(502, { 'Content-Type': 'text/html' }, '<html>Bad gateway</html>')],
  ['503 without Retry-After', status(503)],
  ['504', status(504)],
  ['408', status(408)],
  ['a connection reset before the answer', (response) => response.destroy()],
  ['a connection reset in a body with Content-Length', brokenOff],
  ['a connection reset in a chunked body', brokenChunks],
  ['half a document with a full Content-Length', page('{"Companies":[{"Bas', { ...FACTS, Cursor: 'wrong' })],
  ['HTML with status 200', page('<html></html>')],
  ['an X-Pagination that is no JSON', page({}, '{"Count":1')],
  ['a body that is not compressed as it says', page('{}', FACTS, { 'Content-Encoding': 'gzip' })],
])('page asks again after %s, and believes nothing of it', async (_what, fault) => {
  const server = await answeringServer(fault, fault, page({ Companies: [7] }))
  const service = client(server.url)
  const answer = await service.page(REQUEST, parse)
  expect(answer.value).toEqual({ Companies: [7] })
  expect(answer.pagination).toEqual(FACTS)
  expect(server.seen).toHaveLength(3)
  expect(new Set(server.seen.map(({ body }) => body)).size).toBe(1)
  expect(service.counters()).toMatchObject({ requests: 3, retries: 2, throttled: 0 })
})

test('page gives up after eight attempts, with pauses that double and are cut by chance', async () => {
  const server = await answeringServer(status(500))
  const timing = jumpingTiming(0.5)
  await expect(
    client(server.url, { timing, maxRequestsPerSecond: 1e9 }).page(REQUEST, parse),
  ).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
    message:
      'Cannot fetch a page of companies in SEK (ContentUpdatedAt=2024-01-01..2024-01-31): ' +
      'the service answered 500, given up after 8 attempts',
  })
  expect(server.seen).toHaveLength(8)
  expect(timing.pauses).toEqual([125, 250, 500, 1000, 2000, 4000, 8000])
})

test('page gives up when nobody listens', async () => {
  const server = await answeringServer(page())
  const gone = server.url.replace(/\d+$/, '1')
  await expect(client(gone).page(REQUEST, parse)).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
    message: expect.stringContaining('ECONNREFUSED'),
  })
})

test('page asks again where no header comes in time', async () => {
  const server = await answeringServer(() => undefined, page())
  await client(server.url, { headersTimeoutMs: 50 }).page(REQUEST, parse)
  expect(server.seen).toHaveLength(2)
})

test('page asks again where the body stalls', async () => {
  const stall: Answer = (response) => {
    response.writeHead(200, { 'X-Pagination': JSON.stringify(FACTS) })
    response.write('{')
  }
  const server = await answeringServer(stall, page())
  await client(server.url, { bodyTimeoutMs: 50 }).page(REQUEST, parse)
  expect(server.seen).toHaveLength(2)
})

test('page asks again where the body drips', async () => {
  const timing = jumpingTiming()
  const drip: Answer = (response) => {
    response.writeHead(200, { 'X-Pagination': JSON.stringify(FACTS) })
    let left = 20
    const next = (): void => {
      timing.at += 10_000
      response.write(' ')
      left -= 1
      if (left > 0) setTimeout(next, 2)
      else response.end('{}')
    }
    next()
  }
  const server = await answeringServer(drip, page({ Companies: [8] }))
  expect((await client(server.url, { timing }).page(REQUEST, parse)).value).toEqual({ Companies: [8] })
})

test('all requests share one budget of retries', async () => {
  const server = await answeringServer(status(500))
  const service = client(server.url)
  await Promise.allSettled(Array.from({ length: 6 }, () => service.page(REQUEST, parse)))
  // Six first attempts and the twenty of the budget, not six times eight.
  expect(server.seen).toHaveLength(26)
  await expect(service.page(REQUEST, parse)).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
    message: expect.stringContaining('retry budget exhausted'),
  })
})

test.each<[string, Answer, number]>([
  ['429 with seconds', status(429, { 'Retry-After': '7' }), 7000],
  ['503 with seconds', status(503, { 'Retry-After': '7' }), 7000],
  [
    '429 with a date',
    status(429, { 'Retry-After': 'Sun, 06 Nov 1994 08:49:47 GMT', Date: 'Sun, 06 Nov 1994 08:49:37 GMT' }),
    10_000,
  ],
  ['429 with a date that is over', status(429, { 'Retry-After': 'Sun, 06 Nov 1994 08:49:37 GMT' }), 0],
  ['429 with nothing', status(429), 0],
  ['429 with a fraction', status(429, { 'Retry-After': '3.5' }), 4000],
  ['429 with an ISO date', status(429, { 'Retry-After': '2026-01-01T00:00:09Z' }), 5000],
  ['503 with what nobody can read', status(503, { 'Retry-After': '0x4' }), 5000],
])('page waits after %s, and a little longer', async (_what, throttled, floorMs) => {
  const server = await answeringServer(throttled, page())
  const timing = jumpingTiming(0.5)
  const service = client(server.url, { timing, maxRequestsPerSecond: 1e9 })
  await service.page(REQUEST, parse)
  expect(timing.pauses).toEqual([floorMs + 125])
  expect(service.counters()).toMatchObject({ requests: 2, retries: 1, throttled: 1 })
})

test('a Retry-After that nobody can read is named once, without the token', async () => {
  const busy = (text: string) => status(429, { 'Retry-After': text })
  const server = await answeringServer(busy('0x4'), busy('0x4'), busy(`"${TOKEN}"`), busy('7'), page())
  const warnings: string[] = []
  await client(server.url, { onWarning: (text) => warnings.push(text) }).page(REQUEST, parse)
  const taken = '(neither seconds nor an HTTP date, taken for 5 s)'
  expect(warnings).toEqual([
    `the service answered 429 with Retry-After: "0x4" ${taken}`,
    `the service answered 429 with Retry-After: "\\"…\\"" ${taken}`,
  ])
})

test('page is throttled more often than it may fail, and goes on', async () => {
  const throttled = Array.from({ length: 30 }, () => status(429, { 'Retry-After': '1' }))
  const server = await answeringServer(...throttled, page())
  await client(server.url).page(REQUEST, parse)
  expect(server.seen).toHaveLength(31)
})

test('page does not wait longer than it may', async () => {
  const server = await answeringServer(status(429, { 'Retry-After': '3600' }))
  const service = client(server.url, { maxWaitMs: 60_000 })
  const failure = { code: 'SERVICE_BUSY', context: { waitMs: expect.any(Number) } }
  const message = expect.stringMatching(
    /: the service answered 429 with Retry-After: 3600, which exceeds --max-wait, of which 60 s are left$/,
  )
  await expect(service.page(REQUEST, parse)).rejects.toMatchObject({ ...failure, message })
  // The others need not ask: the pause is the token's.
  await expect(service.page(REQUEST, parse)).rejects.toMatchObject(failure)
  expect(server.seen).toHaveLength(1)
})

test('page quotes a Retry-After as it came, and says where there was none', async () => {
  const date = 'Fri, 31 Dec 2999 23:59:59 GMT'
  for (const [headers, said] of [
    [{ 'Retry-After': date }, `with Retry-After: ${date}, which`],
    [
      { 'Retry-After': 'later' },
      'with Retry-After: "later" (neither seconds nor an HTTP date, taken for 5 s), which',
    ],
    [{}, 'without Retry-After, and the next pause'],
  ] as const) {
    const server = await answeringServer(status(429, headers))
    await expect(client(server.url, { maxWaitMs: 1 }).page(REQUEST, parse)).rejects.toThrow(
      `: the service answered 429 ${said} exceeds --max-wait, of which 0 s are left`,
    )
  }
})

test('page gives up as busy when many short waits add up', async () => {
  const server = await answeringServer(status(429, { 'Retry-After': '10' }))
  await expect(client(server.url, { maxWaitMs: 60_000 }).page(REQUEST, parse)).rejects.toMatchObject({
    code: 'SERVICE_BUSY',
  })
  expect(server.seen.length).toBeLessThan(7)
})

test.each([
  [401, 'TOKEN_REFUSED'],
  [403, 'SERVICE_FORBIDDEN'],
  [404, 'SERVICE_NOT_FOUND'],
  [400, 'REQUEST_REFUSED'],
  [410, 'REQUEST_REFUSED'],
  [422, 'REQUEST_REFUSED'],
  [204, 'ANSWER_INVALID'],
])('page asks once where the status is %d', async (code, error) => {
  const server = await answeringServer(status(code))
  await expect(client(server.url).page(REQUEST, parse)).rejects.toMatchObject({ code: error })
  expect(server.seen).toHaveLength(1)
})

test.each([301, 302, 303, 307, 308])('page follows no redirect %d, and no token goes there', async (code) => {
  const elsewhere = await answeringServer(page())
  const server = await answeringServer(status(code, { Location: `${elsewhere.url}/v2/companies?a=b` }))
  await expect(client(server.url).page(REQUEST, parse)).rejects.toMatchObject({
    code: 'SERVICE_REDIRECTED',
    message: expect.stringMatching(
      new RegExp(`answered ${code} with a redirect to "${elsewhere.url}", which`),
    ),
  })
  expect(elsewhere.seen).toEqual([])
  expect(server.seen).toHaveLength(1)
})

test.each<[string, Answer]>([
  ['is missing', page({}, '')],
  ['has a count in quotes', page({}, { ...FACTS, Count: '1' })],
  ['has a negative count', page({}, { ...FACTS, TotalCount: -1 })],
  ['has a fraction', page({}, { ...FACTS, TotalPages: 1.5 })],
  ['lacks TotalCount', page({}, { Count: 1, PageSize: 1, TotalPages: 1 })],
  ['has a number for a cursor', page({}, { ...FACTS, Cursor: 5 })],
  ['has an empty cursor', page({}, { ...FACTS, Cursor: '' })],
  ['is a list', page({}, [FACTS])],
  ['is null', page({}, 'null')],
])('page refuses an X-Pagination that %s', async (_what, answer) => {
  const server = await answeringServer(answer)
  await expect(client(server.url).page(REQUEST, parse)).rejects.toMatchObject({
    code: 'ANSWER_INVALID',
    context: { kind: 'pagination' },
  })
  expect(server.seen).toHaveLength(1)
})

test('page refuses an X-Pagination that came twice', async () => {
  const server = await answeringServer((response) => {
    response.setHeader('X-Pagination', [JSON.stringify(FACTS), JSON.stringify(FACTS)])
    response.end('{}')
  })
  await expect(client(server.url).page(REQUEST, parse)).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
})

test('page takes an absent cursor as null', async () => {
  const { Cursor: _, ...without } = FACTS
  const server = await answeringServer(page({}, without))
  expect((await client(server.url).page(REQUEST, parse)).pagination).toEqual(FACTS)
})

test.each([
  ['br', brotliCompressSync],
  ['gzip', gzipSync],
] as const)('page takes a body compressed by %s', async (coding, compress) => {
  const body = compress(Buffer.from('{"Companies":[1,2]}'))
  const server = await answeringServer(page(body, FACTS, { 'Content-Encoding': coding }))
  expect((await client(server.url).page(REQUEST, parse)).value).toEqual({ Companies: [1, 2] })
})

test('in a vulnerable Node page asks for no Brotli and decodes none', async () => {
  const server = await answeringServer(
    page(brotliCompressSync('{"Companies":[]}'), FACTS, { 'Content-Encoding': 'br' }),
  )
  pretendNode('26.12.0')
  await expect(client(server.url).page(REQUEST, parse)).rejects.toMatchObject({ code: 'NODE_VULNERABLE' })
  expect(server.seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['gzip'])
})

test.each<[string, Answer]>([
  ['as it comes', page(' '.repeat(2000))],
  [
    'once it is decompressed',
    page(brotliCompressSync(Buffer.alloc(1e6, 32)), FACTS, { 'Content-Encoding': 'br' }),
  ],
])('page refuses a body that is too large %s', async (_when, answer) => {
  const server = await answeringServer(answer)
  await expect(client(server.url, { maxBodyBytes: 1000 }).page(REQUEST, parse)).rejects.toMatchObject({
    code: 'ANSWER_INVALID',
    context: { kind: 'size' },
  })
})

test('page does not ask again where the reader fails otherwise', async () => {
  const server = await answeringServer(page())
  const read = (): never => {
    throw new ToolkitError('ANSWER_DISORDERED', 'Cannot read a page: wrong order')
  }
  await expect(client(server.url).page(REQUEST, read)).rejects.toMatchObject({ code: 'ANSWER_DISORDERED' })
  expect(server.seen).toHaveLength(1)
})

test('page ends with the reason of its signal, waiting for an answer or for its turn', async () => {
  const stop = new AbortController()
  const server = await answeringServer(() => stop.abort(new Error('stopped')))
  const service = client(server.url)
  await expect(service.page(REQUEST, parse, { signal: stop.signal })).rejects.toThrow('stopped')
  await expect(service.page(REQUEST, parse, { signal: stop.signal })).rejects.toThrow('stopped')
  expect(server.seen).toHaveLength(1)
})

test('totalCount asks for one minified company', async () => {
  const server = await answeringServer(page({ Companies: [] }, { ...FACTS, TotalCount: 250_000 }))
  const { totalCount } = await client(server.url).totalCount(
    'companies',
    { CountryCode: ['SE'] },
    { currency: 'SEK' },
  )
  expect(totalCount).toBe(250_000)
  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
    SearchParameters: { CountryCode: ['SE'] },
    PageSize: 1,
    PageNumber: 1,
    MinifiedSearch: true,
    Currency: 'SEK',
  })
})

test('totalCount asks for one record of relations', async () => {
  const server = await answeringServer(page({ Relations: [] }))
  await client(server.url).totalCount('relations', { CountryCode: ['SE'] })
  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
    SearchParameters: { CountryCode: ['SE'] },
    PageSize: 1,
  })
})

test('the address may stand below a path', async () => {
  const server = await answeringServer(page())
  await client(`${server.url}/gateway/`).page(REQUEST, parse)
  expect(server.seen[0]?.url).toBe('/gateway/v2/companies')
})

test('counters count the bytes as they came', async () => {
  const server = await answeringServer(page({ Companies: [] }))
  const service = client(server.url)
  await service.page(REQUEST, parse)
  expect(service.counters()).toEqual({
    requests: 1,
    retries: 0,
    throttled: 0,
    bytes: '{"Companies":[]}'.length,
  })
})

test('page fails at once where the service is closed meanwhile', async () => {
  const server = await answeringServer(() => void service.close())
  const service = client(server.url)
  await expect(service.page(REQUEST, parse)).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  expect(server.seen).toHaveLength(1)
})

import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { FAULT_NAMES, faultOf } from '../../../src/server/faults/fault-kinds.ts'
import { faultLayer } from '../../../src/server/faults/fault-layer.ts'
import { decodeFaults } from '../../../src/server/faults/read-faults.ts'
import { CONTENT, storeOf } from './batch-store.ts'
import { bearer, bodyOf, get, openFake, post, rawRequest } from './open-fake.ts'

const openFaulty = (...faults: readonly object[]): Promise<string> =>
  openFake({ layers: [faultLayer(decodeFaults({ faults }))] })

const WHOLE = { SearchParameters: {}, PageSize: 10 }
const search = (url: string, cursor = '*'): Promise<Response> =>
  post(`${url}/v2/companies`, { ...WHOLE, Cursor: cursor })
const rawSearch = (url: string, cursor = '*') =>
  rawRequest(`${url}/v2/companies`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...WHOLE, Cursor: cursor }),
  })
const statuses = async (url: string, count: number): Promise<number[]> => {
  const found: number[] = []
  for (let at = 0; at < count; at += 1) found.push((await search(url)).status)
  return found
}
const cursorOf = (response: Response): unknown =>
  JSON.parse(response.headers.get('x-pagination') ?? '{}').Cursor
const idsOf = async (response: Response): Promise<number[]> => {
  const { Companies } = (await response.json()) as { Companies: { InternalId: number }[] }
  return Companies.map(({ InternalId }) => InternalId)
}

test('rules choose requests by their numbers, by a step, from one on, and so many times', async () => {
  expect(await statuses(await openFaulty({ on: 'companies', fault: '500', at: [2, 4] }), 5)).toEqual([
    200, 500, 200, 500, 200,
  ])
  expect(await statuses(await openFaulty({ on: 'companies', fault: '500', every: 3 }), 6)).toEqual([
    200, 200, 500, 200, 200, 500,
  ])
  expect(await statuses(await openFaulty({ on: 'companies', fault: '500', from: 3 }), 4)).toEqual([
    200, 200, 500, 500,
  ])
  expect(await statuses(await openFaulty({ on: 'companies', fault: '500', times: 2 }), 4)).toEqual([
    500, 500, 200, 200,
  ])
})

test('of two rules for a request the first counts, and both go on counting', async () => {
  const url = await openFaulty(
    { on: 'companies', fault: '500', at: [1] },
    { on: 'companies', fault: '503', at: [1, 2] },
  )
  expect(await statuses(url, 3)).toEqual([500, 503, 200])
})

test('a rule is about its operation only, and not about requests without a token', async () => {
  const url = await openFaulty({ on: 'parameters', fault: '500' })
  expect((await search(url)).status).toBe(200)
  expect((await get(`${url}/v2/relations/search-parameters`)).status).toBe(500)
  expect((await get(`${url}/v2/companies/search-parameters`)).status).toBe(500)
  expect((await get(`${url}/v2/companies/search-parameters`, {})).status).toBe(401)
})

test.each([
  ['429', 2, 429, '2'],
  ['429', undefined, 429, null],
  ['503', 1, 503, '1'],
  ['503', 'Wed, 21 Oct 2026 07:28:00 GMT', 503, 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ['503', undefined, 503, null],
])('fault %s with retryAfter %s', async (fault, retryAfter, status, header) => {
  const url = await openFaulty({ on: 'companies', fault, ...(retryAfter !== undefined && { retryAfter }) })
  const response = await search(url)
  expect(response.status).toBe(status)
  expect(response.headers.get('retry-after')).toBe(header)
  expect(await response.text()).toBe('')
})

test('fault 502 has a body of HTML', async () => {
  const response = await search(await openFaulty({ on: 'companies', fault: '502' }))
  expect(response.status).toBe(502)
  expect(response.headers.get('content-type')).toContain('text/html')
  expect(await response.text()).toContain('<h1>502 Bad Gateway</h1>')
})

test('fault expiredCursor is 400 with the message of the cursor', async () => {
  const response = await search(await openFaulty({ on: 'companies', fault: 'expiredCursor' }))
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    errors: { parameters: ['Cursor has not a valid value.'] },
  })
})

test('fault redirect leads to another host', async () => {
  const response = await rawSearch(await openFaulty({ on: 'companies', fault: 'redirect' }))
  expect(response.statusCode).toBe(307)
  expect(response.headers.location).toBe('http://elsewhere.invalid/')
  response.resume()
})

test('fault reset ends the connection before any answer', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'reset', at: [1] })
  await expect(rawSearch(url)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect((await search(url)).status).toBe(200)
})

test('fault resetInBody resets the connection after half of the body', async () => {
  const response = await rawSearch(await openFaulty({ on: 'companies', fault: 'resetInBody' }))
  expect(response.statusCode).toBe(200)
  await expect(bodyOf(response)).rejects.toMatchObject({ code: 'ECONNRESET' })
})

/** What a plain socket receives until the server ends the connection. */
const rawAnswer = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(url)
    const body = JSON.stringify({ ...WHOLE, Cursor: '*' })
    const socket = connect(Number(port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(received))
    socket.write(
      `POST /v2/companies HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer().authorization}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
  })
const splitAnswer = (answer: string): { head: string; body: string } => {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  return { head: head.toLowerCase(), body: rest.join('\r\n\r\n') }
}
/** The first page of the fake: ten companies. */
const PAGE = `{"Companies":[${Array.from({ length: 10 }, (_, at) => `{"InternalId":${at + 1}}`).join(',')}]}`

test('fault truncated announces the whole length and ends after half', async () => {
  const { head, body } = splitAnswer(
    await rawAnswer(await openFaulty({ on: 'companies', fault: 'truncated' })),
  )
  expect(head).toContain(`content-length: ${PAGE.length}`)
  expect(head).toContain('x-pagination')
  expect(body).toBe(PAGE.slice(0, Math.floor(PAGE.length / 2)))
})

test('fault truncatedUnannounced ends cleanly after half, without a length', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'truncatedUnannounced' })
  const response = await search(url)
  expect(response.headers.get('content-length')).toBe(null)
  expect(response.headers.get('transfer-encoding')).toBe('chunked')
  expect(await response.text()).toBe(PAGE.slice(0, Math.floor(PAGE.length / 2)))
})

test('fault halfDocument says that half of the document is all of it', async () => {
  const response = await search(await openFaulty({ on: 'companies', fault: 'halfDocument' }))
  const half = PAGE.slice(0, Math.floor(PAGE.length / 2))
  expect(response.headers.get('content-length')).toBe(String(half.length))
  expect(await response.text()).toBe(half)
})

test('fault damaged changes one byte and no length', async () => {
  const response = await search(await openFaulty({ on: 'companies', fault: 'damaged' }))
  const body = Buffer.from(await response.arrayBuffer())
  const differing = [...body].filter((byte, at) => byte !== PAGE.charCodeAt(at))
  expect(body.length).toBe(PAGE.length)
  expect(differing).toHaveLength(1)
})

test('fault drip sends the whole body slowly', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'drip', bytesPerSecond: 1000 })
  const begun = performance.now()
  expect(await (await search(url)).text()).toBe(PAGE)
  expect(performance.now() - begun).toBeGreaterThan(((PAGE.length - 100) / 1000) * 1000 * 0.8)
})

test('fault stall never answers, and the server can still be stopped', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'stall' })
  const answer = await Promise.race([
    search(url).then(
      () => 'answered',
      () => 'answered',
    ),
    get(`${url}/healthz`).then(() => 'none'),
  ])
  expect(answer).toBe('none')
})

test('fault duplicatePage gives the previous answer again, then the chain goes on', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'duplicatePage', at: [2] })
  const first = await search(url)
  const again = await search(url, String(cursorOf(first)))
  expect(await idsOf(again)).toEqual(await idsOf(first))
  expect(cursorOf(again)).toBe(cursorOf(first))
  expect((await idsOf(await search(url, String(cursorOf(again)))))[0]).toBe(11)
})

test('fault duplicatePage gives no page of another chain, and none before the first', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'duplicatePage', from: 2 })
  await search(url)
  const other = await post(`${url}/v2/companies`, { SearchParameters: {}, PageSize: 3, Cursor: '6' })
  expect((await idsOf(other))[0]).toBe(7)
  expect((await idsOf(await search(url)))[0]).toBe(1)
})

test('fault emptyLastPage gives a cursor on the last page, which leads to an empty one', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'emptyLastPage' })
  expect(cursorOf(await search(url))).toBe('10')
  const last = await search(url, '20')
  expect(await idsOf(last)).toHaveLength(5)
  const empty = await search(url, String(cursorOf(last)))
  expect(JSON.parse(empty.headers.get('x-pagination') ?? '')).toEqual({
    Count: 0,
    TotalCount: 25,
    PageSize: 10,
    TotalPages: 3,
    Cursor: null,
  })
  expect(await idsOf(empty)).toEqual([])
})

test('fault omittedCursor leaves the cursor of the last page out; other pages keep theirs', async () => {
  const url = await openFaulty({ on: 'companies', fault: 'omittedCursor', at: [1] })
  expect(cursorOf(await search(url))).toBe('10')
  const last = await search(url, '20')
  expect(JSON.parse(last.headers.get('x-pagination') ?? '')).not.toHaveProperty('Cursor')
  expect(cursorOf(await search(url, '20'))).toBe(null)
})

test('fault changedETag sends a file under another ETag, and all of it to a resumed download', async () => {
  const batches = await storeOf(CONTENT)
  const url = await openFake({
    batches,
    layers: [faultLayer(decodeFaults({ faults: [{ on: 'batchFile', fault: 'changedETag', at: [2] }] }))],
  })
  const file = `${url}/v2/batches/batch-file/1`
  const etag = (await get(file)).headers.get('etag') ?? ''
  const resume = { ...bearer(), range: 'bytes=5-', 'if-range': etag }
  const changed = await get(file, resume)
  expect(changed.status).toBe(200)
  expect(changed.headers.get('etag')).not.toBe(etag)
  expect(await changed.text()).toBe(CONTENT)
  expect((await get(file, resume)).status).toBe(206)
})

test('fault damaged keeps the ETag and digest of the good batch file', async () => {
  const batches = await storeOf(CONTENT)
  const url = await openFake({
    batches,
    layers: [faultLayer(decodeFaults({ faults: [{ on: 'batchFile', fault: 'damaged', at: [1] }] }))],
  })
  const file = `${url}/v2/batches/batch-file/1`
  const [bad, good] = [await get(file), await get(file)]
  for (const header of ['etag', 'repr-digest', 'content-length'])
    expect(bad.headers.get(header)).toBe(good.headers.get(header))
  expect(await bad.text()).not.toBe(await good.text())
})

test.each(FAULT_NAMES.filter((fault) => fault !== 'stall'))(
  'fault %s leaves no client waiting',
  async (fault) => {
    const isHead = faultOf(fault).stage === 'head'
    const url = await openFake({
      batches: await storeOf(CONTENT),
      layers: [faultLayer(decodeFaults({ faults: [{ on: isHead ? 'batchFile' : 'companies', fault }] }))],
    })
    const answer = isHead ? get(`${url}/v2/batches/batch-file/1`) : search(url)
    const ended = await answer.then((response) => response.text()).catch((error: unknown) => error)
    expect(ended).toBeDefined()
  },
)

import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import { openServer } from '../../../src/server/http/open-server.ts'
import { bearer, bodyOf, fakeParts, get, openFake, post, rawRequest, TOKEN } from './open-fake.ts'

test('a search answers the pieces of the page with its pagination in the header', async () => {
  const url = await openFake()
  const response = await post(`${url}/v2/companies`, { SearchParameters: {}, PageSize: 2, Cursor: '*' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(JSON.parse(response.headers.get('x-pagination') ?? '')).toEqual({
    Count: 2,
    TotalCount: 25,
    PageSize: 2,
    TotalPages: 13,
    Cursor: '2',
  })
  const body = await response.text()
  expect(response.headers.get('content-length')).toBe(String(body.length))
  expect(JSON.parse(body)).toEqual({ Companies: [{ InternalId: 1 }, { InternalId: 2 }] })
})

test('relations have their own search', async () => {
  const url = await openFake()
  const response = await post(`${url}/v2/relations`, {})
  expect(await response.json()).toEqual({
    Relations: [{ InternalId: 1 }, { InternalId: 2 }, { InternalId: 3 }],
  })
})

test('a refused search is 400 with the validation body', async () => {
  const url = await openFake({
    companies: async () => ({ kind: 'refused', messages: ['Currency is invalid.', 'Sortfield is invalid.'] }),
  })
  const response = await post(`${url}/v2/companies`, {})
  expect(response.status).toBe(400)
  expect(response.headers.get('x-pagination')).toBe(null)
  expect(await response.json()).toEqual({
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
    title: 'One or more validation errors occurred.',
    status: 400,
    errors: { parameters: ['Currency is invalid.', 'Sortfield is invalid.'] },
  })
})

test.each([
  ['no token', {}],
  ['an unknown token', bearer('other')],
  ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ['the token and more', { authorization: `Bearer ${TOKEN} x` }],
  ['an empty token', { authorization: 'Bearer ' }],
])('a request with %s is 401 with an empty body', async (_what, headers) => {
  const url = await openFake()
  for (const response of [
    await post(`${url}/v2/companies`, {}, headers),
    await get(`${url}/v2/batches/batch-files`, headers),
    await get(`${url}/v2/batches/batch-file/12-companies-SE-0001`, headers),
    await get(`${url}/v2/relations/search-parameters`, headers),
  ]) {
    expect(response.status).toBe(401)
    expect(response.headers.get('content-length')).toBe('0')
    expect(await response.text()).toBe('')
  }
})

test('the scheme of the token may be written in small letters', async () => {
  const url = await openFake()
  expect((await get(`${url}/v2/batches/batch-files`, { authorization: `bearer ${TOKEN}` })).status).toBe(200)
})

test('the search is given the body as it came, whatever it is', async () => {
  const bodies: string[] = []
  const url = await openFake({
    companies: async (body) => {
      bodies.push(body)
      return { kind: 'refused', messages: ['x'] }
    },
  })
  for (const body of ['', '{"a":1', ' {"ä":12345678901234567890} '])
    expect((await post(`${url}/v2/companies`, body)).status).toBe(400)
  expect(bodies).toEqual(['', '{"a":1', ' {"ä":12345678901234567890} '])
})

test.each([
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['Application/Problem+JSON', 200],
  [undefined, 200],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
])('a body of type %s is answered with %i', async (type, status) => {
  const url = await openFake()
  const response = await rawRequest(`${url}/v2/companies`, {
    method: 'POST',
    headers: type === undefined ? {} : { 'content-type': type },
    body: '{}',
  })
  expect(response.statusCode).toBe(status)
  response.resume()
})

test('a body above the limit is 413', async () => {
  const url = await openFake({}, { bodyLimitBytes: 100 })
  const response = await post(`${url}/v2/companies`, JSON.stringify({ x: 'y'.repeat(200) }))
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({ status: 413, title: 'Payload Too Large' })
})

test('an unknown address is 404, a known one asked in another way 405 with what is allowed', async () => {
  const url = await openFake()
  expect((await get(`${url}/v2/people`)).status).toBe(404)
  expect((await get(`${url}/v2/batches/batch-file/unknown`)).status).toBe(404)
  const wrong = await get(`${url}/v2/companies`)
  expect(wrong.status).toBe(405)
  expect(wrong.headers.get('allow')).toBe('POST')
  const deleted = await fetch(`${url}/v2/batches/batch-files`, { method: 'DELETE', headers: bearer() })
  expect(deleted.status).toBe(405)
  expect(deleted.headers.get('allow')).toBe('GET, HEAD')
})

test.each([
  ['that cannot be read', '/v2/batches/batch-file/secret%zz', 400],
  ['with a long id', `/v2/batches/batch-file/secret${'x'.repeat(1000)}`, 404],
  ['with a slash in the id', '/v2/batches/batch-file/..%2Fsecret', 404],
])('an address %s is answered and logged without being told', async (_what, path, status) => {
  const logged = Promise.withResolvers<string>()
  const url = await openFake({}, { log: { write: logged.resolve } })
  const response = await get(url + path)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ status })
  expect(await logged.promise).toContain(`"status":${status}`)
  expect(await logged.promise).not.toContain('secret')
})

test('a query that took too long is 503 with Retry-After and no details', async () => {
  const url = await openFake({
    companies: async () => {
      throw new ToolkitError('QUERY_FAILED', 'Cannot search: secret SQL')
    },
  })
  const response = await post(`${url}/v2/companies`, {})
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect(await response.text()).not.toContain('secret')
})

test('an unexpected failure is 500 and its words go neither to the client nor to the log', async () => {
  const lines: string[] = []
  const url = await openFake(
    {
      companies: async () => {
        throw new Error('secret data')
      },
    },
    { log: { write: (line) => lines.push(line) } },
  )
  const response = await post(`${url}/v2/companies`, {})
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('secret')
  expect(lines.join('')).toContain('"level":"error"')
  expect(lines.join('')).not.toContain('secret')
})

test('a search is told when its client has gone', async () => {
  const gone = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const url = await openFake({
    companies: (_body, _caller, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          gone.resolve()
          reject(new Error('stopped'))
        })
        begun.resolve()
      }),
  })
  const controller = new AbortController()
  const answer = fetch(`${url}/v2/companies`, {
    method: 'POST',
    headers: { ...bearer(), 'content-type': 'application/json' },
    body: '{}',
    signal: controller.signal,
  })
  await Promise.race([begun.promise, answer])
  controller.abort()
  await expect(answer).rejects.toThrow()
  await gone.promise
})

test('HEAD of a listing has its length and no body', async () => {
  const url = await openFake()
  const response = await rawRequest(`${url}/v2/batches/batch-files`, { method: 'HEAD' })
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-length']).toBe(String('{"BatchFiles":[]}'.length))
  expect(await bodyOf(response)).toBe('')
})

test('health, metrics and the document need no token', async () => {
  const url = await openFake()
  const health = await get(`${url}/healthz`, {})
  expect(await health.json()).toEqual({ status: 'ok', snapshot: 12 })
  expect((await get(`${url}/metrics`, {})).status).toBe(200)
  expect((await get(`${url}/openapi.json`, {})).headers.get('content-type')).toContain('application/json')
})

test('openServer says so when the port is taken', async () => {
  const url = await openFake()
  const { port } = new URL(url)
  await expect(openServer(fakeParts(), { port: Number(port) })).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    context: { port: Number(port) },
    message: expect.stringContaining(`port ${port} is in use by another process`),
  })
})

test('close lets a request at work end and refuses new ones', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const parts = fakeParts({
    companies: async () => {
      begun.resolve()
      await finish.promise
      return { kind: 'refused', messages: ['late'] }
    },
  })
  const server = await openServer(parts, { port: 0 })
  const answer = post(`${server.address}/v2/companies`, {})
  await Promise.race([begun.promise, answer])
  const closed = server.close()
  await expect(get(`${server.address}/healthz`)).rejects.toThrow()
  finish.resolve()
  expect((await answer).status).toBe(400)
  await closed
})

test('close ends a request that takes too long, and the search hears of it', async () => {
  const begun = Promise.withResolvers<void>()
  let aborted = false
  const parts = fakeParts({
    companies: (_body, _caller, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true
          reject(new Error('stopped'))
        })
        begun.resolve()
      }),
  })
  const server = await openServer(parts, { port: 0, stopTimeoutMs: 50 })
  const answer = post(`${server.address}/v2/companies`, {})
  answer.catch(() => undefined)
  await begun.promise
  await server.close()
  await expect(answer).rejects.toThrow()
  expect(aborted).toBe(true)
})

test('a request whose head does not come in time is ended', async () => {
  const url = await openFake({}, { headersTimeoutMs: 50, requestTimeoutMs: 100 })
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /)
})

test('a request whose body does not come in time is ended', async () => {
  const url = await openFake({}, { headersTimeoutMs: 50, requestTimeoutMs: 100 })
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  const { authorization } = bearer()
  socket.write(
    `POST /v2/companies HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 9\r\n\r\n{`,
  )
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /)
})

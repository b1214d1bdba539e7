import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as bodyText } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import { type RetryTiming, SYSTEM_RETRY_TIMING } from '../../../src/server/ranking/post-for-embeddings.ts'
import { type ServiceEmbedderOptions, serviceEmbedder } from '../../../src/server/ranking/service-embedder.ts'

interface Asked {
  readonly path: string | undefined
  readonly authorization: string | undefined
  readonly model: string
  readonly input: readonly string[]
}
/** Answers one request; the number of the request counts from 0. */
type Answer = (asked: Asked, response: ServerResponse, no: number) => void

const KEY = 'sk-secret-key'

const askedOf = async (request: IncomingMessage): Promise<Asked> => ({
  path: request.url,
  authorization: request.headers.authorization,
  ...JSON.parse(await bodyText(request)),
})

/** A service on loopback that answers as told, and an embedder's options for it; pauses only note their length. */
const service = async (
  answer: Answer,
): Promise<{ asked: Asked[]; pauses: number[]; options: ServiceEmbedderOptions }> => {
  const asked: Asked[] = []
  const pauses: number[] = []
  const server = createServer(async (request, response) => {
    const one = await askedOf(request)
    answer(one, response, asked.push(one) - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const timing: RetryTiming = {
    now: () => Date.UTC(2026, 0, 1),
    random: () => 0.5,
    pause: async (ms) => {
      pauses.push(ms)
    },
  }
  const options = { url: `http://127.0.0.1:${port}/v1/`, model: 'tiny', key: KEY, dimensions: 2, timing }
  return { asked, pauses, options }
}

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
/** Gives "b" of the texts [0, 3] and the others [4, 0], last one first. */
const good: Answer = ({ input }, response) => {
  const data = input.map((one, index) => ({ index, embedding: one === 'b' ? [0, 3] : [4, 0] }))
  json(response, { object: 'list', data: data.reverse() })
}

const failure = async (work: Promise<unknown>): Promise<ToolkitError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ToolkitError)) throw new Error(`Expected a ToolkitError, got ${error}`)
  // Neither key nor texts may reach a log.
  expect(`${error.message} ${JSON.stringify(error.context)}`).not.toMatch(/secret|acme/)
  return error
}

test('embed gives vectors of length 1 in the order of the texts', async () => {
  const { asked, options } = await service(good)
  const embedder = await serviceEmbedder(options)
  const vectors = await embedder.embed(['a', 'b', 'c'])
  expect(vectors.map((vector) => [...vector])).toEqual([
    [1, 0],
    [0, 1],
    [1, 0],
  ])
  expect(asked).toEqual([
    { path: '/v1/embeddings', authorization: `Bearer ${KEY}`, model: 'tiny', input: ['a', 'b', 'c'] },
  ])
})

test('serviceEmbedder asks for the dimensions once, and is named after model and host', async () => {
  const { asked, options } = await service(good)
  const embedder = await serviceEmbedder({ ...options, dimensions: undefined })
  expect(embedder.dimensions).toBe(2)
  expect(embedder.name).toBe(`tiny at ${new URL(options.url).host}`)
  await embedder.embed(['a'])
  expect(asked).toHaveLength(2)
})

test('embed sends texts in batches', async () => {
  const { asked, options } = await service(good)
  const embedder = await serviceEmbedder({ ...options, batch: 2, atOnce: 1 })
  const vectors = await embedder.embed(['a', 'b', 'c', 'd', 'b'])
  expect(asked.map(({ input }) => input)).toEqual([['a', 'b'], ['c', 'd'], ['b']])
  expect(vectors.map((vector) => vector[1])).toEqual([0, 1, 0, 0, 1])
})

test('embed sends no empty text and gives zeros for it', async () => {
  const { asked, options } = await service(good)
  const embedder = await serviceEmbedder(options)
  expect((await embedder.embed(['', 'b', ' '])).map((vector) => [...vector])).toEqual([
    [0, 0],
    [0, 1],
    [0, 0],
  ])
  expect(await embedder.embed(['', ''])).toHaveLength(2)
  expect(asked.map(({ input }) => input)).toEqual([['b']])
})

test('embed sends at most 2,000 characters of a text, and no half of a pair', async () => {
  const { asked, options } = await service(good)
  await (await serviceEmbedder(options)).embed([`${'x'.repeat(1999)}😀`])
  expect(asked[0]?.input).toEqual([`${'x'.repeat(1999)}\uFFFD`])
})

test('serviceEmbedder sends no key where there is none', async () => {
  const { asked, options } = await service(good)
  await (await serviceEmbedder({ ...options, key: '' })).embed(['a'])
  expect(asked[0]?.authorization).toBeUndefined()
})

const once =
  (fault: Answer): Answer =>
  (asked, response, no) =>
    (no === 0 ? fault : good)(asked, response, no)

test.each<[string, Answer, number]>([
  ['429 with Retry-After in seconds', (_, response) => json(response, {}, 429, { 'retry-after': '7' }), 7250],
  [
    '429 with Retry-After as a date',
    (_, response) => json(response, {}, 429, { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }),
    9250,
  ],
  ['500', (_, response) => json(response, {}, 500), 250],
  ['503', (_, response) => json(response, {}, 503), 250],
  ['a reset connection', (_, response) => response.destroy(), 250],
  ['a body that is cut', (_, response) => response.writeHead(200).end('{"data":[{"ind'), 250],
  [
    'a body shorter than announced',
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{', () => response.destroy())
    },
    250,
  ],
])('embed asks again after %s', async (_, fault, pauseMs) => {
  const { asked, pauses, options } = await service(once(fault))
  const vectors = await (await serviceEmbedder(options)).embed(['b'])
  expect([...(vectors[0] ?? [])]).toEqual([0, 1])
  expect(asked).toHaveLength(2)
  expect(pauses).toEqual([pauseMs])
})

test('embed gives up after its retries, with growing pauses', async () => {
  const { asked, pauses, options } = await service((_, response) => json(response, { error: KEY }, 500))
  const error = await failure((await serviceEmbedder({ ...options, retries: 3 })).embed(['acme']))
  expect(error.code).toBe('EMBEDDER_FAILED')
  expect(error.context).toEqual({ host: new URL(options.url).host, status: 500 })
  expect(error.message).toBe(
    `Cannot get embeddings from "${new URL(options.url).host}": it answered 500, expected 200, tried 4 times`,
  )
  expect(asked).toHaveLength(4)
  expect(pauses).toEqual([250, 500, 1000])
})

test('embed does not wait where the service asks for more than a minute', async () => {
  const { asked, pauses, options } = await service((_, response) =>
    json(response, {}, 429, { 'retry-after': '3600' }),
  )
  const error = await failure((await serviceEmbedder(options)).embed(['acme']))
  expect(error.code).toBe('EMBEDDER_FAILED')
  expect(error.message).toContain('3600 seconds')
  expect([asked.length, pauses.length]).toEqual([1, 0])
})

const vectors = (...embeddings: unknown[]): Answer => {
  const data = embeddings.map((embedding, index) => ({ index, embedding }))
  return (_, response) => json(response, { data })
}

test.each<[string, string, Answer]>([
  ['too few vectors', 'answered 1 vectors, expected 2', vectors([1, 0])],
  ['too many vectors', 'answered 3 vectors, expected 2', vectors([1, 0], [1, 0], [1, 0])],
  [
    'a number twice',
    'not numbered from 0 to 1',
    (_, response) => json(response, { data: [0, 0].map((index) => ({ index, embedding: [1, 0] })) }),
  ],
  [
    'a number out of range',
    'not numbered from 0 to 1',
    (_, response) => json(response, { data: [0, 2].map((index) => ({ index, embedding: [1, 0] })) }),
  ],
  [
    'vectors without numbers',
    'not numbered from 0 to 1',
    (_, response) => json(response, { data: [{ embedding: [1, 0] }, { embedding: [1, 0] }] }),
  ],
  ['other dimensions', 'has 3 dimensions, expected 2', vectors([1, 0], [1, 0, 0])],
  ['a vector of zeros', 'no direction', vectors([1, 0], [0, 0])],
  ['a vector of texts', 'no list of numbers', vectors([1, 0], ['1', '0'])],
  ['a vector beyond a float', 'no direction', vectors([1, 0], [1e300, 0])],
  ['a vector as Base64', 'no list of numbers', vectors([1, 0], 'AACAPwAAAAA=')],
  ['no list', 'no list "data"', (_, response) => json(response, { error: 'no' })],
  ['null', 'no list "data"', (_, response) => json(response, null)],
  ['400', 'answered 400, expected 200', (_, response) => json(response, { error: 'acme is no text' }, 400)],
  ['401', 'answered 401, expected 200', (_, response) => json(response, {}, 401)],
  ['404', 'answered 404, expected 200', (_, response) => json(response, {}, 404)],
  [
    'a redirect',
    'answered 307, expected 200',
    (_, response) => json(response, {}, 307, { location: '/v1/embeddings' }),
  ],
])('embed fails at once on %s', async (_, message, answer) => {
  const { asked, options } = await service(answer)
  const error = await failure((await serviceEmbedder(options)).embed(['acme', 'b']))
  expect(error.code).toBe('EMBEDDER_FAILED')
  expect(error.message).toContain(message)
  expect(asked).toHaveLength(1)
})

test('embed asks again after a timeout, and says so at last', async () => {
  const { pauses, options } = await service(() => {})
  const error = await failure(
    (await serviceEmbedder({ ...options, timeoutMs: 20, retries: 1 })).embed(['acme']),
  )
  expect(error.code).toBe('EMBEDDER_FAILED')
  expect(error.message).toContain('did not answer within 20 ms')
  expect(pauses).toHaveLength(1)
})

test('embed stops when its signal fires, without another try', async () => {
  const stop = new AbortController()
  const reason = new Error('stopped')
  const { asked, pauses, options } = await service(() => stop.abort(reason))
  await expect((await serviceEmbedder(options)).embed(['acme'], stop.signal)).rejects.toBe(reason)
  expect([asked.length, pauses.length]).toEqual([1, 0])
})

test('embed stops in a pause when its signal fires', async () => {
  const stop = new AbortController()
  const reason = new Error('stopped')
  const { options } = await service((_, response) => json(response, {}, 503, { 'retry-after': '50' }))
  const timing: RetryTiming = {
    ...SYSTEM_RETRY_TIMING,
    pause: (ms, signal) => {
      setImmediate(() => stop.abort(reason))
      return SYSTEM_RETRY_TIMING.pause(ms, signal)
    },
  }
  await expect((await serviceEmbedder({ ...options, timing })).embed(['acme'], stop.signal)).rejects.toBe(
    reason,
  )
})

test('embed fails where nobody listens', async () => {
  const { options } = await service(good)
  const error = await failure(
    (await serviceEmbedder({ ...options, url: 'http://127.0.0.1:1', retries: 0 })).embed(['acme']),
  )
  expect(error.code).toBe('EMBEDDER_FAILED')
})

test.each([
  '',
  'nonsense',
  'ftp://example.com',
  'http://example.com/v1',
  'http://127.0.0.1.example.com',
  'https://me:secret@example.com',
])('serviceEmbedder refuses the address %j', async (url) => {
  expect((await failure(serviceEmbedder({ url, model: 'tiny', dimensions: 2 }))).code).toBe('ADDRESS_REFUSED')
})

test.each(['https://example.com/v1', 'http://localhost:1', 'http://[::1]:1'])(
  'serviceEmbedder takes the address %j',
  async (url) => {
    expect((await serviceEmbedder({ url, model: 'tiny', dimensions: 2 })).dimensions).toBe(2)
  },
)

test.each(['secret\n', 'secret key', 'sécret'])('serviceEmbedder refuses the key %j', async (key) => {
  const { options } = await service(good)
  expect((await failure(serviceEmbedder({ ...options, key }))).code).toBe('TOKEN_INVALID')
})

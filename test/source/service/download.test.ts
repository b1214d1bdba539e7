/** Downloads of batch files over real HTTP: whole, broken, resumed, changed, damaged. */

import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Answer, answeringServer, client, status } from './answering-server.ts'

const FILE = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31 + (i >> 8)) & 255))
const OTHER = Buffer.from(FILE.map((byte) => byte ^ 1)).subarray(0, 250_000)
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const digest = (bytes: Buffer): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`

interface How {
  readonly bytes?: Buffer
  readonly etag?: string | null
  /** Break off after so many bytes of the body. */
  readonly breakAt?: number
  readonly ranges?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly hasLength?: boolean
}

/** A server's answer with ranges and ETag, as far as it is told to know them. */
const file =
  ({
    bytes = FILE,
    etag = '"v1"',
    breakAt,
    ranges = true,
    headers = {},
    hasLength = true,
  }: How = {}): Answer =>
  (response, request) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const isRange = ranges && from > 0 && request.headers['if-range'] === etag
    const tag = etag === null ? {} : { ETag: etag }
    if (isRange && from >= bytes.length) {
      response.writeHead(416, { ...tag, 'Content-Range': `bytes */${bytes.length}` }).end()
      return
    }
    const part = isRange ? bytes.subarray(from) : bytes
    response.writeHead(isRange ? 206 : 200, {
      ...tag,
      ...(isRange && { 'Content-Range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
      ...(hasLength && { 'Content-Length': String(part.length) }),
      ...headers,
    })
    if (breakAt === undefined) response.end(part)
    else response.write(part.subarray(0, breakAt), () => setTimeout(() => response.destroy(), 20))
  }

const target = async (): Promise<string> => join(await temporaryFolder(), 'downloads', 'b-17.br')
const namesBeside = (path: string): Promise<string[]> => readdir(join(path, '..'))

test('download writes the file as it comes, and nothing is left beside it', async () => {
  const server = await answeringServer(file())
  const path = await target()
  const seen: number[] = []
  const result = await client(server.url).download('b/17 ..', path, { onBytes: (bytes) => seen.push(bytes) })
  expect(result).toEqual({ bytes: FILE.length, sha256: sha256(FILE), etag: '"v1"' })
  expect(sha256(await readFile(path))).toBe(sha256(FILE))
  expect(await namesBeside(path)).toEqual(['b-17.br'])
  expect(seen.at(-1)).toBe(FILE.length)
  expect(server.seen[0]?.url).toBe('/v2/batches/batch-file/b%2F17%20%2E%2E')
  expect(server.seen[0]?.headers['accept-encoding']).toBe('identity')
})

test('download goes on with the rest, as often as each try brings something', async () => {
  const server = await answeringServer(...Array.from({ length: 12 }, () => file({ breakAt: 20_000 })), file())
  const path = await target()
  expect(await client(server.url).download('b', path)).toMatchObject({ sha256: sha256(FILE) })
  expect(sha256(await readFile(path))).toBe(sha256(FILE))
  expect(server.seen[5]?.headers).toMatchObject({ range: 'bytes=100000-', 'if-range': '"v1"' })
  expect(server.seen).toHaveLength(13)
})

test('download gives up where no try brings anything', async () => {
  const server = await answeringServer(file({ breakAt: 50_000 }), status(500))
  await expect(client(server.url).download('b', await target())).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
    message: expect.stringMatching(
      /^Cannot download batch file "b": the service answered 500, given up after 8/,
    ),
  })
})

test('download gives up where each try brings the same bytes again', async () => {
  const server = await answeringServer(file({ breakAt: 50_000, ranges: false }))
  await expect(client(server.url).download('b', await target())).rejects.toMatchObject({
    code: 'SERVICE_FAILED',
  })
  expect(server.seen).toHaveLength(8)
})

test('download of another process resumes where the first one was killed', async () => {
  const path = await target()
  const server = await answeringServer(file({ breakAt: 120_000 }), status(403), file())
  await expect(client(server.url).download('b', path)).rejects.toMatchObject({ code: 'SERVICE_FORBIDDEN' })
  expect((await namesBeside(path)).sort()).toEqual(['b-17.br.part', 'b-17.br.part.json'])
  const seen: number[] = []
  expect(
    await client(server.url).download('b', path, { onBytes: (bytes) => seen.push(bytes) }),
  ).toMatchObject({
    sha256: sha256(FILE),
  })
  expect(server.seen[2]?.headers).toMatchObject({ range: 'bytes=120000-', 'if-range': '"v1"' })
  expect(seen[0]).toBeGreaterThan(120_000)
})

test('download finds that all of a killed one is there', async () => {
  const path = await target()
  const server = await answeringServer(file({ breakAt: 120_000 }), status(403), file())
  await expect(client(server.url).download('b', path)).rejects.toMatchObject({ code: 'SERVICE_FORBIDDEN' })
  await writeFile(`${path}.part`, FILE)
  expect(await client(server.url).download('b', path)).toMatchObject({ sha256: sha256(FILE) })
  expect(server.seen[2]?.headers.range).toBe(`bytes=${FILE.length}-`)
})

test.each([
  ['another file', '{"source":"http://elsewhere/b","etag":"\\"v1\\""}'],
  ['nothing', undefined],
  ['no JSON', '{"source'],
])('download begins anew where the part is said to be of %s', async (_what, saved) => {
  const path = await target()
  const server = await answeringServer(file({ breakAt: 120_000 }), status(403), file())
  await expect(client(server.url).download('b', path)).rejects.toMatchObject({ code: 'SERVICE_FORBIDDEN' })
  await writeFile(`${path}.part.json`, saved ?? '')
  expect(await client(server.url).download('b', path)).toMatchObject({ sha256: sha256(FILE) })
  expect(server.seen[2]?.headers.range).toBeUndefined()
})

test('download starts over where the ETag has changed', async () => {
  const changed = file({ bytes: OTHER, etag: '"v2"' })
  const server = await answeringServer(file({ breakAt: 100_000 }), changed)
  const path = await target()
  expect(await client(server.url).download('b', path)).toEqual({
    bytes: OTHER.length,
    sha256: sha256(OTHER),
    etag: '"v2"',
  })
  expect(sha256(await readFile(path))).toBe(sha256(OTHER))
})

test('download starts over where a range of another version comes', async () => {
  const wrong: Answer = (response) => {
    const headers = { ETag: '"v2"', 'Content-Range': `bytes 100000-${OTHER.length - 1}/${OTHER.length}` }
    response.writeHead(206, headers).end(OTHER.subarray(100_000))
  }
  const server = await answeringServer(
    file({ breakAt: 100_000 }),
    wrong,
    file({ bytes: OTHER, etag: '"v2"' }),
  )
  expect(await client(server.url).download('b', await target())).toMatchObject({ sha256: sha256(OTHER) })
  expect(server.seen[2]?.headers.range).toBeUndefined()
})

test.each([
  ['a wrong start', 'bytes 90000-299999/300000'],
  ['another length', 'bytes 100000-299999/310000'],
  ['no range', ''],
])('download begins anew where a 206 has %s', async (_what, range) => {
  const wrong: Answer = (response) => {
    response.writeHead(206, { ETag: '"v1"', ...(range !== '' && { 'Content-Range': range }) })
    response.end(FILE.subarray(100_000))
  }
  const server = await answeringServer(file({ breakAt: 100_000 }), wrong, file())
  expect(await client(server.url).download('b', await target())).toMatchObject({ sha256: sha256(FILE) })
})

test.each([
  ['none', null],
  ['a weak one', 'W/"v1"'],
])('download asks for no range where the ETag is %s', async (_what, etag) => {
  const server = await answeringServer(file({ breakAt: 100_000, etag }), file({ etag }))
  const result = await client(server.url).download('b', await target())
  expect(result).toEqual({ bytes: FILE.length, sha256: sha256(FILE) })
  expect(server.seen[1]?.headers.range).toBeUndefined()
})

test('download keeps a body with Content-Encoding br as it is', async () => {
  const server = await answeringServer(file({ headers: { 'Content-Encoding': 'br' } }))
  const path = await target()
  await client(server.url).download('b', path)
  expect(sha256(await readFile(path))).toBe(sha256(FILE))
})

test('download refuses a file that is compressed once more', async () => {
  const server = await answeringServer(file({ headers: { 'Content-Encoding': 'gzip' } }))
  await expect(client(server.url).download('b', await target())).rejects.toMatchObject({
    code: 'ANSWER_INVALID',
  })
})

test('download compares the digest, and fetches a damaged file once more', async () => {
  const headers = { 'Repr-Digest': digest(FILE) }
  const damaged = Buffer.from(FILE)
  damaged[1000] = 0
  const server = await answeringServer(file({ bytes: damaged, headers }), file({ headers }))
  const path = await target()
  expect(await client(server.url).download('b', path)).toMatchObject({ sha256: sha256(FILE) })
  expect(sha256(await readFile(path))).toBe(sha256(FILE))
})

test('download gives up where the file comes damaged each time', async () => {
  const server = await answeringServer(file({ headers: { 'Repr-Digest': `md5=:AAAA:, ${digest(OTHER)}` } }))
  await expect(client(server.url).download('b', await target())).rejects.toMatchObject({
    code: 'DOWNLOAD_DAMAGED',
    message: 'Cannot download batch file "b": its SHA-256 is not the announced one',
  })
  expect(server.seen).toHaveLength(3)
})

test('download compares the digest of all, also of what was resumed', async () => {
  const headers = { 'Repr-Digest': digest(FILE) }
  const server = await answeringServer(file({ headers, breakAt: 100_000 }), file({ headers }))
  expect(await client(server.url).download('b', await target())).toMatchObject({ sha256: sha256(FILE) })
  expect(server.seen[1]?.headers.range).toBe('bytes=100000-')
})

test('download of a body without a length is compared with the listing', async () => {
  const cut = file({ bytes: FILE.subarray(0, 200_000), hasLength: false })
  const server = await answeringServer(cut, file({ hasLength: false }))
  const result = await client(server.url).download('b', await target(), { sizeBytes: FILE.length })
  expect(result).toMatchObject({ sha256: sha256(FILE) })
})

test('download of an unknown file says so', async () => {
  const server = await answeringServer(status(404))
  await expect(client(server.url).download('b', await target())).rejects.toMatchObject({
    code: 'SERVICE_NOT_FOUND',
  })
})

test('download that cannot write says so', async () => {
  const server = await answeringServer(file())
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'file'), '')
  await expect(client(server.url).download('b', join(folder, 'file', 'b.br'))).rejects.toMatchObject({
    code: 'WRITE_FAILED',
  })
})

test('download ends with the reason of its signal and keeps what it has', async () => {
  const stop = new AbortController()
  const slow: Answer = (response) => {
    response.writeHead(200, { ETag: '"v1"', 'Content-Length': String(FILE.length) })
    response.write(FILE.subarray(0, 100_000))
  }
  const server = await answeringServer(slow, file())
  const path = await target()
  const onBytes = (bytes: number): void => {
    if (bytes >= 100_000) stop.abort(new Error('stopped'))
  }
  const options = { signal: stop.signal, onBytes }
  await expect(client(server.url).download('b', path, options)).rejects.toThrow('stopped')
  expect(await client(server.url).download('b', path)).toMatchObject({ sha256: sha256(FILE) })
  expect(server.seen[1]?.headers.range).toBe('bytes=100000-')
})

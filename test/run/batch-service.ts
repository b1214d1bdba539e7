/** A small service that lists and serves batch files over loopback, with whatever faults a test asks for. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import { sha256, textOf } from './batch-bench.ts'

export const TOKEN = 'test-token'

/** One answer to a request for a file, where it is not to be the plain one. */
export interface Answer {
  readonly bytes?: Buffer
  readonly etag?: string
  readonly encoding?: string
  /** Closes the connection after so many bytes of the body. */
  readonly cutAfter?: number
  /** Is waited for after the head and, with `cutAfter`, that part of the body. */
  readonly hold?: Promise<unknown>
}

export interface Offered {
  readonly id: string
  readonly bytes: Buffer
  /** Fields of the listing, over the true ones. */
  readonly listed?: Readonly<Record<string, unknown>>
  /** @param attempt requests for this file so far, from 1 */
  readonly answer?: (attempt: number) => Answer
}

export interface BatchRequest {
  readonly id: string
  readonly range: string | undefined
}

export interface BatchService {
  readonly url: string
  /** Files on offer; a test may change them. */
  readonly files: Offered[]
  /** Requests for files, in order. */
  readonly requests: readonly BatchRequest[]
  /** Downloads under way, and the most there were at once. */
  readonly load: { now: number; most: number }
  readonly close: () => Promise<void>
}

/** A batch file of companies; its listing says when it was made by the order of calls. */
export const offer = (id: string, lines: readonly string[], more: Partial<Offered> = {}): Offered => ({
  id,
  bytes: brotliCompressSync(textOf(lines)),
  ...more,
  listed: { Content: 'Companies', CountryCode: 'SE', Count: lines.length, ...more.listed },
})

const listingOf = (files: readonly Offered[]): unknown => ({
  BatchFiles: files.map(({ id, bytes, listed }, at) => ({
    BatchFileId: id,
    FileName: `${id}.jsonl.br`,
    CreatedAt: new Date(Date.UTC(2026, 0, 1 + at)).toISOString(),
    SizeInBytes: bytes.length,
    ...listed,
  })),
})

const sendFile = async (
  request: IncomingMessage,
  response: ServerResponse,
  offered: Offered,
  answer: Answer,
): Promise<void> => {
  const bytes = answer.bytes ?? offered.bytes
  const etag = answer.etag ?? `"${sha256(bytes).slice(0, 16)}"`
  const { range } = request.headers
  const from = request.headers['if-range'] === etag ? Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0) : 0
  const body = bytes.subarray(from)
  response.writeHead(from > 0 ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': body.length,
    'accept-ranges': 'bytes',
    etag,
    ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    ...(answer.encoding !== undefined && { 'content-encoding': answer.encoding }),
  })
  const first = body.subarray(0, answer.cutAfter ?? 0)
  await new Promise<void>((resolve) =>
    response.write(first.length > 0 ? first : ' '.slice(1), () => resolve()),
  )
  await answer.hold
  if (answer.cutAfter !== undefined) response.destroy()
  else response.end(body)
}

/** Starts the service on a free port. */
export const startBatchService = async (files: readonly Offered[]): Promise<BatchService> => {
  const offered = [...files]
  const requests: BatchRequest[] = []
  const load = { now: 0, most: 0 }
  const server = createServer((request, response) => {
    const { url = '' } = request
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return response.writeHead(401).end()
    if (url === '/v2/batches/batch-files') return response.end(JSON.stringify(listingOf(offered)))
    const id = decodeURIComponent(url.replace('/v2/batches/batch-file/', ''))
    const file = offered.find((one) => one.id === id)
    if (file === undefined) return response.writeHead(404).end()
    requests.push({ id, range: request.headers.range })
    load.now += 1
    load.most = Math.max(load.most, load.now)
    response.once('close', () => {
      load.now -= 1
    })
    const attempt = requests.filter((one) => one.id === id).length
    void sendFile(request, response, file, file.answer?.(attempt) ?? {})
    return response
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    files: offered,
    requests,
    load,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

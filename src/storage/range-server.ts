/**
 * Ranges of a bucket's files over HTTP on the loopback, for a reader that knows HTTP and no bucket: credentials,
 * endpoint and retries stay with the object store, and the reader can open nothing but the files offered to it.
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { ToolkitError } from '../core/errors.ts'
import { nameOf, type ObjectStore } from './object-store.ts'
import { type RangedObject, rangedObject } from './read-object.ts'
import type { FileFacts, RangeServer } from './storage.ts'

/** The files never change: a reader may keep what it knows of them. */
const UNCHANGED = new Date(0).toUTCString()

const RANGE = /^bytes=(\d+)-(\d*)$/

/** First byte of the range asked for and the one behind its last; `undefined` where there is none like it. */
const rangeOf = (
  { headers: { range } }: IncomingMessage,
  bytes: number,
): { readonly from: number; readonly until: number } | undefined => {
  if (range === undefined) return { from: 0, until: bytes }
  const [, first, last] = RANGE.exec(range) ?? []
  const from = Number(first)
  const until = last ? Math.min(Number(last) + 1, bytes) : bytes
  return from < until ? { from, until } : undefined
}

/** Starts a server of a store's objects. It keeps no process alive. */
export const serveRanges = async (store: ObjectStore): Promise<RangeServer> => {
  const secret = randomBytes(16).toString('hex')
  const places = new Map<string, string>()
  const objects = new Map<string, RangedObject>()
  const opened = new Set<string>()
  let [requests, bytesRead] = [0, 0]
  let failure: ToolkitError | undefined
  const counter = {
    request: () => {
      requests += 1
    },
    bytes: (more: number) => {
      bytesRead += more
    },
  }

  // Named by number: DuckDB takes signs of a path for patterns.
  const offer = (file: FileFacts): void => {
    if (places.has(file.path)) return
    const place = `/${secret}/${places.size + 1}.parquet`
    places.set(file.path, place)
    objects.set(place, rangedObject(store, file, counter))
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const object = objects.get(request.url ?? '')
    if (object === undefined) return void response.writeHead(404).end()
    const { path, bytes, sha256 } = object.facts
    const range = rangeOf(request, bytes)
    if (range === undefined) return void response.writeHead(416).end()
    const { from, until } = range
    const isPart = request.headers.range !== undefined
    response.writeHead(isPart ? 206 : 200, {
      'accept-ranges': 'bytes',
      'content-length': until - from,
      ...(isPart && { 'content-range': `bytes ${from}-${until - 1}/${bytes}` }),
      'content-type': 'application/octet-stream',
      etag: `"${sha256}"`,
      'last-modified': UNCHANGED,
    })
    // The length is that of the manifest: it is compared with the object's at the first range.
    if (request.method === 'HEAD') return void response.end()
    opened.add(path)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    try {
      await pipeline(object.read(from, until, gone.signal), response)
    } catch (error) {
      // The client closed the connection; not an error.
      if (!gone.signal.aborted || error instanceof ToolkitError) failure ??= asFailure(error, path)
      response.destroy()
    }
  }

  const asFailure = (error: unknown, path: string): ToolkitError =>
    error instanceof ToolkitError
      ? error
      : new ToolkitError('STORAGE_FAILED', `Cannot read "${nameOf(store, path)}"`, { path }, error)

  // Only here: what "node:http" gives includes a WebSocket, for which Node loads a second HTTP client at the import.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port')
  const origin = `http://127.0.0.1:${address.port}`

  return {
    url: `${origin}/${secret}/`,
    urlOf: (path) => {
      const place = places.get(path)
      return place && `${origin}${place}`
    },
    offer: (files) => files.forEach(offer),
    takeFailure: () => {
      const taken = failure
      failure = undefined
      return taken
    },
    counts: () => ({ files: opened.size, requests, bytes: bytesRead }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

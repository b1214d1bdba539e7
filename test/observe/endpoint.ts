/** An endpoint of telemetry on this machine: keeps what is sent to it. */

import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'

export interface Received {
  readonly path: string
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Buffer
}

export interface Endpoint {
  readonly url: string
  readonly received: readonly Received[]
}

/** @param answer a status, or `hang`: it takes what comes and never answers */
export const openEndpoint = async (answer: number | 'hang' = 200): Promise<Endpoint> => {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
    received.push({ path: request.url ?? '', headers: request.headers, body })
    if (answer !== 'hang') response.writeHead(answer).end()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The endpoint has no port')
  return { url: `http://127.0.0.1:${address.port}`, received }
}

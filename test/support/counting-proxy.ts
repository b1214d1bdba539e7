/** Stands before a server on this machine and counts what is asked of it. */

import { once } from 'node:events'
import { createServer, request } from 'node:http'

export interface Counts {
  /** Every request so far, as `GET /bucket/key?query`, with the range that it asks for. */
  readonly requests: readonly string[]
  /** Bytes of the bodies of all answers. */
  readonly bytes: number
}

export interface CountingProxy extends AsyncDisposable {
  readonly endpoint: string
  /** What was counted since this was called last. */
  readonly take: () => Counts
}

/** @param endpoint of the server, `http://127.0.0.1:port` */
export const openCountingProxy = async (endpoint: string): Promise<CountingProxy> => {
  let requests: string[] = []
  let bytes = 0
  const { hostname, port } = new URL(endpoint)
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    requests.push([method, path, headers.range ?? []].flat().join(' '))
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      answer.pipe(outgoing)
    })
    onward.on('error', () => incoming.socket.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    take: () => {
      const taken = { requests, bytes }
      requests = []
      bytes = 0
      return taken
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

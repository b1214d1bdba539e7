/** Stands between the SDK and a server, on this machine, and does to single requests what networks do. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

/** A request as it is seen before it is passed on. */
export interface Passing {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
}

/**
 * What becomes of it: passed on (absent); passed on and its answer lost, whole or from the middle of its body on; or
 * answered by the proxy itself.
 */
export type Fate =
  | { readonly kind: 'answer lost' }
  | { readonly kind: 'body cut' }
  | { readonly kind: 'without metadata' }
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | undefined

export interface LoopbackProxy {
  readonly endpoint: string
  /** Every request so far, as `GET /bucket/key?query`. */
  readonly requests: readonly string[]
}

const answerOf = (code: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>told by the server</Message>${more}</Error>`

/** An error answer of S3. */
export const s3Error = (status: number, code: string, more?: string): Fate => ({
  kind: 'answered',
  status,
  body: answerOf(code, more),
})

const passOn = (endpoint: string, incoming: IncomingMessage, outgoing: ServerResponse, fate: Fate): void => {
  const { method, url: path, headers } = incoming
  const { hostname, port } = new URL(endpoint)
  const answered = async (answer: IncomingMessage): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk)
    if (fate?.kind === 'answer lost') {
      incoming.socket.destroy()
      return
    }
    const body = Buffer.concat(chunks)
    const passed = Object.entries(answer.headers).filter(
      ([name]) => !(fate?.kind === 'without metadata' && name.startsWith('x-amz-meta-')),
    )
    outgoing.writeHead(answer.statusCode ?? 500, Object.fromEntries(passed))
    if (fate?.kind === 'body cut')
      outgoing.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy())
    else outgoing.end(body)
  }
  const onward = request({ hostname, port, method, path, headers }, (answer) => {
    // A server that is killed while it answers.
    answered(answer).catch(() => incoming.socket.destroy())
  })
  onward.on('error', () => incoming.socket.destroy())
  incoming.pipe(onward)
}

type Decide = (passing: Passing) => Fate | Promise<Fate>

/** Starts a proxy that ends with the test. `decide` is asked about each request and may take its time. */
export const startProxy = async (endpoint: string, decide: Decide): Promise<LoopbackProxy> => {
  const proxy = await openProxy(endpoint, decide)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return proxy
}

/** Starts a proxy that ends when it is disposed of. */
export const openProxy = async (
  endpoint: string,
  decide: Decide,
): Promise<LoopbackProxy & AsyncDisposable> => {
  const requests: string[] = []
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    requests.push(`${method} ${url}`)
    const fate = await decide({ method, url, headers })
    if (fate?.kind !== 'answered') return passOn(endpoint, incoming, outgoing, fate)
    incoming.resume()
    await once(incoming, 'end')
    outgoing.writeHead(fate.status, { 'content-type': 'application/xml' }).end(fate.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A fate for the first request that fits only. */
export const firstTime = (fits: (passing: Passing) => boolean, fate: Fate): ((passing: Passing) => Fate) => {
  let over = false
  return (passing) => {
    if (over || !fits(passing)) return undefined
    over = true
    return fate
  }
}

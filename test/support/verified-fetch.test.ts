/** Requests with a secret to a server whose certificate proves nothing, where the environment turns the check off. */

import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest'
import { openCatalog } from '../../src/publish/iceberg/catalog-client.ts'
import { serviceEmbedder } from '../../src/server/ranking/service-embedder.ts'
import { verifiedFetch } from '../../src/support/verified-fetch.ts'
import { selfSigned } from './needs.ts'

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A self-signed server, with the check of certificates turned off. @returns its address, and what came to it */
const unproven = async (context: TestContext) => {
  const { key, certificate } = await selfSigned(context, ['localhost'])
  const seen: (string | undefined)[] = []
  const server = createServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (request, response) => {
      seen.push(request.headers.authorization)
      response.end('{}')
    },
  )
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  return { url: `https://localhost:${await listening(server)}`, seen }
}

test('verifiedFetch refuses a certificate that proves nothing, whatever the environment says', async (context) => {
  const { url, seen } = await unproven(context)
  const headers = { authorization: 'Bearer secret' }
  await expect(verifiedFetch(url, { method: 'GET', headers })).rejects.toMatchObject({
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  expect(seen).toEqual([])
})

test('the Iceberg catalog gets no token where its certificate proves nothing', async (context) => {
  const { url, seen } = await unproven(context)
  for (const secret of [{ token: 'secret' }, { credential: 'id:secret' }])
    await expect(openCatalog({ url, ...secret }, undefined)).rejects.toMatchObject({
      code: 'CATALOG_FAILED',
      message: expect.stringMatching(/TLS verification failed.*NODE_EXTRA_CA_CERTS/),
    })
  expect(seen).toEqual([])
})

test('the embedding service gets no key where its certificate proves nothing', async (context) => {
  const { url, seen } = await unproven(context)
  await expect(serviceEmbedder({ url, model: 'any', key: 'secret' })).rejects.toMatchObject({
    code: 'EMBEDDER_FAILED',
    message: expect.stringMatching(/TLS verification failed.*NODE_EXTRA_CA_CERTS/),
  })
  expect(seen).toEqual([])
})

test('verifiedFetch sends a body, gives status, headers and body, and follows no redirect', async () => {
  const seen: unknown[] = []
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push([request.method, request.headers.authorization, Buffer.concat(chunks).toString()])
    if (request.url === '/empty') response.writeHead(204).end()
    else response.writeHead(302, { location: '/other', 'x-two': ['1', '2'] }).end('moved ß')
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  const answer = await verifiedFetch(`${url}/a?b=c`, {
    method: 'POST',
    headers: { authorization: 'Bearer x' },
    body: 'Grüße',
  })
  expect([answer.status, answer.headers.get('x-two'), await answer.text()]).toEqual([302, '1, 2', 'moved ß'])
  const empty = await verifiedFetch(`${url}/empty`, { method: 'GET', headers: {} })
  expect([empty.status, await empty.text()]).toEqual([204, ''])
  expect(seen).toEqual([
    ['POST', 'Bearer x', 'Grüße'],
    ['GET', undefined, ''],
  ])
})

test('verifiedFetch fails where a body breaks off, and stops with its signal', async () => {
  const server = createHttpServer((request, response) => {
    if (request.url === '/silent') return
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  const url = `http://127.0.0.1:${await listening(server)}`
  const answer = await verifiedFetch(url, { method: 'GET', headers: {} })
  await expect(answer.text()).rejects.toThrow()
  const controller = new AbortController()
  const silent = verifiedFetch(`${url}/silent`, { method: 'GET', headers: {}, signal: controller.signal })
  controller.abort()
  await expect(silent).rejects.toMatchObject({ name: 'AbortError' })
  server.closeAllConnections()
})

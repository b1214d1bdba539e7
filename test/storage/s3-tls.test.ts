/** Which way leads to a bucket: certificates count whatever the environment says, and plain http ends at this machine. */

import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../src/storage/open-storage.ts'
import { selfSigned } from '../support/needs.ts'
import { type Environment, s3Environment, stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const EMPTY = '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'

/** Answers every request with an empty listing. @returns its port, and how many came */
const bucket = async (
  create: (answer: RequestListener) => Server,
): Promise<{ port: number; count: () => number }> => {
  let requests = 0
  const server = create((_request, response) => {
    requests += 1
    response.setHeader('content-type', 'application/xml').end(EMPTY)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, count: () => requests }
}

const listing = async (endpoint: string, environment: Environment = {}): Promise<unknown> => {
  const own = s3Environment({ endpoint, accessKey: 'key', secretKey: 'secret' }, await temporaryFolder())
  stubEnvironment({ ...own, AWS_ALLOW_HTTP: undefined, ...environment })
  return openStorage('s3://lakes/lake')
    .list('')
    .catch((error: unknown) => error)
}

test('a certificate that proves nothing is refused, whatever the environment says', async (context) => {
  const { key, certificate } = await selfSigned(context, ['localhost'])
  const pem = { key: await readFile(key), cert: await readFile(certificate) }
  const { port, count } = await bucket((answer) => createHttpsServer(pem, answer))
  expect(await listing(`https://localhost:${port}`, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject({
    code: 'STORAGE_REFUSED',
    message: expect.stringMatching(/certificate.*NODE_EXTRA_CA_CERTS/),
  })
  expect(count()).toBe(0)
})

test('plain http beyond this machine is refused before anything is sent, unless AWS_ALLOW_HTTP says so', async () => {
  const { port, count } = await bucket((answer) => createHttpServer(answer))
  // An address of this machine that is not known as one.
  const endpoint = `http://0.0.0.0:${port}`
  for (const environment of [
    {},
    { AWS_ALLOW_HTTP: 'false' },
    { AWS_ENDPOINT_URL: endpoint, AWS_ENDPOINT_URL_S3: undefined },
  ])
    expect(await listing(endpoint, environment)).toMatchObject({
      code: 'STORAGE_REFUSED',
      message: expect.stringContaining('AWS_ALLOW_HTTP=true'),
    })
  expect(count()).toBe(0)
  expect(await listing(endpoint, { AWS_ALLOW_HTTP: 'true' })).toEqual([])
  expect(await listing(`http://127.0.0.1:${port}`)).toEqual([])
  expect(count()).toBe(2)
})

/** The way to a service that is not this machine: certificates, and proxies named by the environment. */

import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import { cli, errorCode } from '../../cli/run-cli.ts'
import { selfSigned } from '../../support/needs.ts'
import { client, TOKEN } from './answering-server.ts'

/** Listens on loopback until the test is over. @returns the port */
const listening = async (server: Server): Promise<number> => {
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    onTestFinished(() => {
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

interface SecureService {
  readonly port: number
  /** File of its certificate, for `localhost` and `service.test`. */
  readonly certificate: string
  readonly tokens: readonly (string | undefined)[]
}

const secureService = async (context: TestContext): Promise<SecureService> => {
  const { key, certificate } = await selfSigned(context, ['localhost', 'service.test'])
  const tokens: (string | undefined)[] = []
  const pem = { key: await readFile(key), cert: await readFile(certificate) }
  const server = createHttpsServer(pem, (request, response) => {
    tokens.push(request.headers.authorization)
    response.end('{"SearchParameters":[{"ParameterName":"CountryCode"}]}')
  })
  return { port: await listening(server), certificate, tokens }
}

test('a certificate that proves nothing is refused at once, and nothing is sent', async (context) => {
  const { port, tokens } = await secureService(context)
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const service = client(`https://localhost:${port}`)
  const asked = service.parameters('companies')
  await expect(asked).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  await expect(asked).rejects.toThrow(/TLS verification failed.*NODE_EXTRA_CA_CERTS/)
  expect(service.counters()).toMatchObject({ requests: 1, retries: 0 })
  expect(tokens).toEqual([])
})

test('a proxy of the environment tunnels, sees no token, and NODE_EXTRA_CA_CERTS adds an authority', async (context) => {
  const { port, certificate, tokens } = await secureService(context)
  const seen: string[] = []
  const proxy = createHttpServer().on('connect', (request, socket) => {
    seen.push(request.url ?? '', JSON.stringify(request.rawHeaders))
    const service = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      service.pipe(socket).pipe(service)
    })
    for (const one of [service, socket]) one.on('error', () => undefined)
    socket.on('close', () => service.destroy())
  })
  const env = {
    HTTPS_PROXY: `http://127.0.0.1:${await listening(proxy)}`,
    NODE_EXTRA_CA_CERTS: certificate,
    FIRMLAKE_TOKEN: TOKEN,
  }
  const asked = (host: string) =>
    cli(['plan', 'companies', '--parameters', '--url', `https://${host}`, '--max-wait', '1s', '--json'], {
      env,
    })
  expect(await asked('service.test')).toMatchObject({ code: 0, stderr: '' })
  expect(tokens).toEqual([`Bearer ${TOKEN}`])
  expect(seen[0]).toBe('service.test:443')
  expect(seen.join()).not.toContain(TOKEN)
  // The proxy leads to a service that proves to be another one.
  const other = await asked('other.test')
  expect([other.code, errorCode(other)]).toEqual([1, 'SERVICE_FAILED'])
  expect(tokens).toHaveLength(1)
})

test('a proxy that takes connections and says nothing is given up after the time to connect', async () => {
  const port = await listening(createServer())
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${port}`)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const service = client('https://service.test', { connectTimeoutMs: 100, maxWaitMs: 0 })
  await expect(service.parameters('companies')).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
})

test('a proxy without a usable address is refused without repeating it', () => {
  vi.stubEnv('HTTPS_PROXY', 'user:hidden@nowhere at all')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const opening = (): unknown => client('https://service.test')
  expect(opening).toThrow(ToolkitError)
  expect(opening).toThrow('no web address')
  expect(opening).not.toThrow('hidden')
})

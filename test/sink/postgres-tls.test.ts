/** What goes to a PostgreSQL server in the clear, and whose certificates count: as the address says, whatever the environment does. */

import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { postgres } from '../../src/sink/postgres/postgres.ts'
import { checkTargets } from '../../src/targets/update-targets.ts'
import { selfSigned } from '../support/needs.ts'
import { stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** An address of this machine that is not known as one. */
const BEYOND = '0.0.0.0'
const SECRET = 'secret-4711'

/** `SSLRequest`, and the version at the start of a session. */
const KINDS: Readonly<Record<number, string>> = { 80877103: 'asks for TLS', 196608: 'begins' }
const kindOf = (data: Buffer): string => KINDS[data.readInt32BE(4)] ?? 'something else'

interface Listener {
  readonly port: number
  /** What came, in order: in the clear, and within TLS. */
  readonly clear: string[]
  readonly secure: string[]
}

/** Ends every session that begins. @param tls key and certificate; without them the server has no TLS */
const listen = async (tls?: { readonly key: Buffer; readonly cert: Buffer }): Promise<Listener> => {
  const clear: string[] = []
  const secure: string[] = []
  const server = createServer((socket) => {
    onTestFinished(() => {
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      clear.push(kindOf(Buffer.from(data)))
      if (clear.at(-1) !== 'asks for TLS') socket.destroy()
      else if (tls === undefined) socket.write('N')
      else upgrade(socket, tls)
    })
  })
  const upgrade = (socket: Socket, { key, cert }: { readonly key: Buffer; readonly cert: Buffer }): void => {
    socket.write('S')
    const within = new TLSSocket(socket, { isServer: true, key, cert })
    within.on('error', () => undefined)
    within.once('data', (data) => {
      secure.push(kindOf(Buffer.from(data)))
      within.destroy()
    })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, clear, secure }
}

const withCertificate = async (context: TestContext) => {
  const { key, certificate } = await selfSigned(context, ['localhost'])
  return {
    ...(await listen({ key: await readFile(key), cert: await readFile(certificate) })),
    certificate,
  }
}

const NO_PG = { PGSSLMODE: undefined, PGHOST: undefined, PGPASSWORD: undefined }

const failure = async (url: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> => {
  stubEnvironment({ ...NO_PG, ...env })
  const run = await postgres(url, { staging: await temporaryFolder() }).open('run-1')
  const error: unknown = await run.commit([]).catch((reason: unknown) => reason)
  expect(String(error)).not.toContain(SECRET)
  return error
}
const at = (host: string, port: number, query = ''): string =>
  `postgres://me:${SECRET}@${host}:${port}/db${query}`

test.each([
  ['this machine', '127.0.0.1', '', {}, 'begins'],
  ['this machine', '127.0.0.1', '', { PGSSLMODE: 'require' }, 'asks for TLS'],
  ['this machine', '127.0.0.1', '?sslmode=verify-full', {}, 'asks for TLS'],
  ['another one', BEYOND, '', {}, 'asks for TLS'],
  ['another one', BEYOND, '', { PGSSLMODE: 'disable' }, 'asks for TLS'],
  ['another one', BEYOND, '?sslmode=disable', { PGSSLMODE: 'require' }, 'begins'],
  ['another one', BEYOND, '?sslnegotiation=postgres', {}, 'asks for TLS'],
] as const)('to %s (%s%s, %j): a session %s', async (_what, host, query, env, expected) => {
  const { port, clear } = await listen()
  const error = await failure(at(host, port, query), env)
  expect(clear).toEqual([expected])
  if (expected === 'asks for TLS')
    expect(error).toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringContaining('sslmode=disable'),
    })
})

test.each([
  'sslmode=no-verify',
  'sslmode=prefer',
  'sslmode=allow',
  'sslmode=',
  'ssl=0',
  'ssl=no-verify',
  'uselibpqcompat=true&sslmode=require',
  'sslmode=verify-full&sslmode=disable',
  'sslmode=disable&ssl%6Dode=no-verify',
])('an address with %s is refused before anything is sent', async (query) => {
  const { port, clear } = await listen()
  expect(await failure(at(BEYOND, port, `?${query}`))).toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining('sslmode=verify-full'),
  })
  // A load is refused before it begins.
  await expect(checkTargets({ lake: 'lake', sinks: [at(BEYOND, port, `?${query}`)] })).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining('sslmode=verify-full'),
  })
  expect(clear).toEqual([])
})

test('a certificate that proves nothing is refused, whatever the environment says', async (context) => {
  const { port, clear, secure } = await withCertificate(context)
  for (const [host, query] of [
    [BEYOND, ''],
    ['localhost', '?sslmode=require'],
    [BEYOND, '?sslmode=verify-full&sslnegotiation=postgres'],
  ] as const) {
    const error = await failure(at(host, port, query), {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      PGSSLMODE: 'no-verify',
    })
    expect(error).toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringMatching(/certificate.*sslrootcert/),
    })
  }
  expect(clear).toEqual(['asks for TLS', 'asks for TLS', 'asks for TLS'])
  expect(secure).toEqual([])
})

test('sslrootcert names an authority, and the name of the host counts with it', async (context) => {
  const { port, secure, certificate } = await withCertificate(context)
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const root = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`
  await failure(at('localhost', port, root), env)
  expect(secure).toEqual(['begins'])
  for (const mode of ['verify-ca', 'require'])
    expect(await failure(at(BEYOND, port, root.replace('verify-full', mode)), env)).toMatchObject({
      code: 'TARGET_REFUSED',
    })
  expect(secure).toEqual(['begins'])
  expect(await failure(at('localhost', port, '?sslrootcert=/no/such.pem'))).toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining('/no/such.pem'),
  })
})

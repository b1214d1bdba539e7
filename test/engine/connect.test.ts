import { afterEach, expect, test, vi } from 'vitest'
import { addressOf, type TemporalPlace } from '../../src/engine/temporal/connect.ts'
import { VERSION } from '../../src/support/own-package.ts'

afterEach(() => void vi.unstubAllEnvs())

const NOWHERE: TemporalPlace = { address: undefined, namespace: undefined, taskQueue: undefined }

test('addressOf takes what is given before what the environment says, and a task queue of this release', () => {
  vi.stubEnv('TEMPORAL_ADDRESS', 'a.example.com:7233')
  vi.stubEnv('TEMPORAL_NAMESPACE', 'one')
  expect(addressOf(NOWHERE)).toMatchObject({
    ...{ address: 'a.example.com:7233', namespace: 'one', taskQueue: `firmlake-${VERSION}` },
  })
  expect(addressOf({ address: 'b.example.com:1', namespace: 'two', taskQueue: 'q' })).toMatchObject({
    ...{ address: 'b.example.com:1', namespace: 'two', taskQueue: 'q' },
    options: { address: 'b.example.com:1' },
  })
})

test('addressOf uses TLS with an API key, and with certificates', () => {
  vi.stubEnv('TEMPORAL_ADDRESS', 'a.example.com:7233')
  expect(addressOf(NOWHERE).options.tls).toBeUndefined()
  vi.stubEnv('TEMPORAL_API_KEY', 'a-key')
  expect(addressOf(NOWHERE).options).toMatchObject({ apiKey: 'a-key', tls: true })
  vi.stubEnv('TEMPORAL_TLS_SERVER_NAME', 'inner.example.com')
  expect(addressOf(NOWHERE).options.tls).toMatchObject({ serverNameOverride: 'inner.example.com' })
})

test('addressOf refuses to send an API key beyond this machine without TLS', () => {
  vi.stubEnv('TEMPORAL_API_KEY', 'a-key')
  vi.stubEnv('TEMPORAL_TLS', 'false')
  expect(() => addressOf({ ...NOWHERE, address: 'a.example.com:7233' })).toThrow('in the clear, expected TLS')
  for (const address of ['localhost:7233', '127.0.0.1:7233', '[::1]:7233'])
    expect(addressOf({ ...NOWHERE, address }).address).toBe(address)
})

test('addressOf refuses to guess an address, and says what it cannot read', () => {
  vi.stubEnv('TEMPORAL_ADDRESS', '')
  expect(() => addressOf(NOWHERE)).toThrow('no address, give --temporal HOST:PORT or set TEMPORAL_ADDRESS')
  vi.stubEnv('TEMPORAL_ADDRESS', 'a.example.com:7233')
  vi.stubEnv('TEMPORAL_TLS_CLIENT_CERT_PATH', '/nowhere/client.pem')
  vi.stubEnv('TEMPORAL_TLS_CLIENT_KEY_PATH', '/nowhere/client.key')
  expect(() => addressOf(NOWHERE)).toThrow(/Cannot read the TEMPORAL_ variables: .*\/nowhere\/client\.pem/)
})

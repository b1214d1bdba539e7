/** What a bucket refuses, and what is told of it: what to check, and never a secret. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { s3Environment, stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { s3Error } from './loopback-proxy.ts'
import { allOf, factsOf, s3Bench } from './s3-bench.ts'

const staged = async (data: string): Promise<string> => {
  const path = join(await temporaryFolder(), 'part-0')
  await writeFile(path, data)
  return path
}

/** Every method, on paths that need not be there. */
const METHODS: readonly (readonly [string, (storage: Storage) => Promise<unknown>])[] = [
  ['prepare', (storage) => storage.prepare(['_manifest'])],
  ['hasFolder', (storage) => storage.hasFolder('_manifest')],
  ['stat', (storage) => storage.stat('a/one')],
  ['list', (storage) => storage.list('a')],
  ['entries', (storage) => storage.entries('a')],
  ['read', (storage) => storage.read('a/one')],
  ['create', (storage) => storage.create('a/one', 'text')],
  ['createFolder', (storage) => storage.createFolder('a', new Map([['one', 'text']]))],
  ['replace', (storage) => storage.replace('a/one', 'text')],
  ['remove of one', (storage) => storage.remove(['a/one'])],
  ['remove of two', (storage) => storage.remove(['a/one', 'a/two'])],
  ['removeFolder', (storage) => storage.removeFolder('a')],
  ['stage', async (storage) => storage.stage(await staged('rows'), factsOf('a/one', 'rows'))],
  ['publish', (storage) => storage.publish([{ from: '/none', to: 'a/one' }])],
  ['fetch', (storage) => storage.fetch([factsOf('a/one', 'text')])],
  ['examine', (storage) => storage.examine('a/one', {}, async () => 'used')],
  ['readLines', (storage) => storage.readLines('a/log')],
  ['openLines', (storage) => storage.openLines('a/log')],
]

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

const called = async (name: string, storage: Storage): Promise<unknown> =>
  METHODS.find(([own]) => own === name)?.[1](storage)

test('every method says of a missing bucket that it is refused', async (context) => {
  await s3Bench(context)
  for (const [name, call] of METHODS)
    expect(await failureOf(call(openStorage('s3://no-such-bucket/lake'))), name).toMatchObject({
      code: 'STORAGE_REFUSED',
      message: expect.stringContaining('no-such-bucket'),
    })
})

describe('every method says of wrong credentials that they are refused, and repeats none of them', () => {
  const TOKEN = 'session-token-9f3b1c'
  test.for([
    ['an unknown key', { AWS_ACCESS_KEY_ID: 'AKIAUNKNOWNKEY000000' }],
    ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'wrong-secret-4711' }],
    ['no credentials', { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }],
  ] as const)('%s', async ([, environment], context) => {
    const { server, open } = await s3Bench(context, undefined, environment)
    const secrets = [
      server.accessKey,
      server.secretKey,
      'AKIAUNKNOWNKEY000000',
      'wrong-secret-4711',
      'Signature=',
    ]
    for (const [name, call] of METHODS) {
      const error = await failureOf(call(open()))
      expect(error, name).toMatchObject({ name: 'ToolkitError', code: 'STORAGE_REFUSED' })
      for (const secret of secrets) expect(allOf(error), name).not.toContain(secret)
    }
  })

  test('a token that has expired, which the server repeats', async (context) => {
    const expired = s3Error(400, 'ExpiredToken', `<Token-0>${TOKEN}</Token-0>`)
    const { open } = await s3Bench(context, () => expired, { AWS_SESSION_TOKEN: TOKEN })
    for (const name of ['list', 'read', 'create', 'replace']) {
      const error = await failureOf(called(name, open()))
      expect(error).toMatchObject({ code: 'STORAGE_REFUSED', message: expect.stringContaining('expired') })
      expect(allOf(error)).not.toContain(TOKEN)
    }
  })
})

test.for([
  [403, 'AccessDenied', 'STORAGE_REFUSED', 'rights'],
  [403, 'RequestTimeTooSkewed', 'STORAGE_REFUSED', 'clock'],
  [400, 'AuthorizationHeaderMalformed', 'STORAGE_REFUSED', 'AWS_REGION'],
  [501, 'NotImplemented', 'STORAGE_REFUSED', 'lacks an operation'],
  [500, 'InternalError', 'STORAGE_FAILED', 'InternalError (500) after 2 attempts'],
  [503, 'SlowDown', 'STORAGE_FAILED', 'SlowDown (503) after 2 attempts'],
  [400, 'SomethingNew', 'STORAGE_FAILED', 'SomethingNew (400)'],
] as const)('an answer %s %s is %s', async ([status, code, expected, told], context) => {
  const { open } = await s3Bench(context, () => s3Error(status, code), { AWS_MAX_ATTEMPTS: '2' })
  for (const name of ['list', 'read', 'create'])
    expect(await failureOf(called(name, open()))).toMatchObject({
      code: expected,
      message: expect.stringMatching(/^Cannot [a-z]+ "s3:\/\/lakes\/deep\/lake\/a/),
      context: { name: code, status },
    })
  expect(await failureOf(open().read('a/one'))).toMatchObject({ message: expect.stringContaining(told) })
})

test('an endpoint that does not answer is a failure', async (context) => {
  const { server, open } = await s3Bench(context, undefined, { AWS_MAX_ATTEMPTS: '2' })
  await server.kill()
  for (const [name, call] of METHODS)
    expect(await failureOf(call(open())), name).toMatchObject({ code: 'STORAGE_FAILED' })
})

test('without an endpoint and a region nothing is asked', async () => {
  const none = { endpoint: '', accessKey: 'key', secretKey: 'secret' }
  stubEnvironment({ ...s3Environment(none, await temporaryFolder()), AWS_ENDPOINT_URL_S3: undefined })
  await expect(openStorage('s3://lakes').list('')).rejects.toMatchObject({
    code: 'STORAGE_REFUSED',
    message: expect.stringContaining('AWS_REGION'),
  })
})

test('an endpoint that overwrites where it must not is refused before anything is written', async (context) => {
  const { open } = await s3Bench(context, ({ method }) =>
    method === 'PUT' ? { kind: 'answered', status: 200, body: '' } : undefined,
  )
  await expect(open().prepare(['_manifest'])).rejects.toMatchObject({
    code: 'STORAGE_REFUSED',
    message: expect.stringContaining('If-None-Match'),
  })
})

test('paths that leave the lake are refused and nothing is asked', async (context) => {
  const { open, proxy } = await s3Bench(context)
  for (const path of [
    '../other/one',
    'a/../../b',
    '/etc/passwd',
    'a//b',
    '',
    'a\\b',
    'a\0b',
    `a/${'é'.repeat(600)}`,
  ]) {
    await expect(open().fetch([factsOf(path, 'text')]), path).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
    await expect((async () => open().read(path))(), path).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  }
  expect(proxy.requests).toEqual([])
})

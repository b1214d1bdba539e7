/** What `doctor --online` says of a bucket, on a real server. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { checkBucket } from '../../src/doctor/check-targets.ts'
import { doctor } from '../../src/jobs/doctor.ts'
import { s3Error } from '../storage/loopback-proxy.ts'
import { LAKE, s3Bench } from '../storage/s3-bench.ts'

const LIMIT_MS = 20_000

const leftIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'lakes'), { recursive: true })).filter((name) => name.includes('doctor'))

test('a bucket is listed, written, read and deleted, and nothing stays there', async (context: TestContext) => {
  const { server, proxy } = await s3Bench(context)
  expect(await checkBucket(LAKE, LIMIT_MS)).toEqual({
    about: 'bucket',
    state: 'well',
    says: `"${LAKE}" is listed, written and read, and deleted`,
  })
  expect(proxy.requests.some((one) => one.startsWith('PUT '))).toBe(true)
  expect(await leftIn(server.folder)).toEqual([])
})

test('a bucket that is not there is said, and the secret is not', async (context: TestContext) => {
  const { server } = await s3Bench(context)
  const { well, findings } = await doctor({ lake: LAKE, online: true, limitMs: LIMIT_MS })
  expect(well).toBe(true)
  expect(findings.find(({ about }) => about === 'bucket')?.state).toBe('well')
  expect(JSON.stringify(findings)).not.toContain(server.secretKey)
  expect((await checkBucket('s3://no-such-bucket/lake', LIMIT_MS)).says).toContain('there is no such bucket')
})

test('credentials that may not write are said, and that nothing was left is no matter', async (context: TestContext) => {
  await s3Bench(context, ({ method }) => (method === 'PUT' ? s3Error(403, 'AccessDenied') : undefined))
  const { state, says } = await checkBucket(LAKE, LIMIT_MS)
  expect(state).toBe('missing')
  expect(says).toMatch(/^STORAGE_REFUSED: Cannot create .*check the rights of the credentials/)
  expect(says).not.toContain('could not be removed')
})

test('an object that cannot be removed is named', async (context: TestContext) => {
  const { server } = await s3Bench(context, ({ method }) =>
    method === 'DELETE' ? s3Error(403, 'AccessDenied') : undefined,
  )
  const { state, says } = await checkBucket(LAKE, LIMIT_MS)
  const [left = ''] = await leftIn(server.folder)
  expect(state).toBe('missing')
  expect(left).toContain('.firmlake-doctor-')
  expect(says).toContain(`"s3://lakes/${left}" could not be removed: STORAGE_REFUSED`)
})

test('an endpoint that writes over what is there is refused', async (context: TestContext) => {
  let puts = 0
  await s3Bench(context, ({ method }) => {
    if (method !== 'PUT') return undefined
    puts += 1
    return puts === 2 ? { kind: 'answered', status: 200, body: '' } : undefined
  })
  expect((await checkBucket(LAKE, LIMIT_MS)).says).toContain('the endpoint ignores If-None-Match')
})

test('an endpoint that never answers takes no longer than the limit', async (context: TestContext) => {
  await s3Bench(context, () => new Promise(() => undefined))
  const began = performance.now()
  const { state, says } = await checkBucket(LAKE, 1000)
  expect(performance.now() - began).toBeLessThan(20_000)
  expect([state, says]).toEqual(['missing', expect.stringMatching(/no answer within 1 s|STORAGE_FAILED/)])
})

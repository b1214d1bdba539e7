import { expect, test } from 'vitest'
import { newTokenRegistry } from '../../../src/server/access/choose-tokens.ts'
import { RateBuckets } from '../../../src/server/http/rate-limit.ts'
import type { Search } from '../../../src/server/http/server-parts.ts'
import { bearer, entry, get, openFake, post, SWEDISH, SWEDISH_ENTRY, TOKEN } from './open-fake.ts'

/** How many of `perSecond` evenly paced requests over some seconds are refused at a limit. */
const refused = (
  perSecond: number,
  seconds: number,
  limit: number,
  jitterMs = (_at: number) => 0,
): number => {
  let now = 0
  const buckets = new RateBuckets(() => now)
  let count = 0
  for (let at = 0; at < perSecond * seconds; at += 1) {
    now = (at * 1000) / perSecond + jitterMs(at)
    if (buckets.take('a', { perSecond: limit }) > 0) count += 1
  }
  return count
}

test('20 requests a second at a limit of 20 are never refused, jitter included', () => {
  expect(refused(20, 300, 20)).toBe(0)
  expect(refused(20, 300, 20, (at) => (at % 2 === 0 ? 40 : 0))).toBe(0)
})

test('a second of requests all at once at each full second is not refused', () => {
  expect(refused(20, 60, 20, (at) => Math.floor(at / 20) * 1000 - at * 50)).toBe(0)
})

test('40 requests a second at a limit of 20 are refused about half of the time', () => {
  const share = refused(40, 60, 20) / (40 * 60)
  expect(share).toBeGreaterThan(0.48)
  expect(share).toBeLessThan(0.51)
})

test('a limit below one a second lets the first request through and says how long to wait', () => {
  let now = 0
  const buckets = new RateBuckets(() => now)
  expect(buckets.take('a', { perSecond: 0.5 })).toBe(0)
  expect(buckets.take('a', { perSecond: 0.5 })).toBe(2000)
  expect(buckets.take('b', { perSecond: 0.5 })).toBe(0)
  now = 2000
  expect(buckets.take('a', { perSecond: 0.5 })).toBe(0)
})

test('buckets of ten thousand keys are kept, the longest unused ones are forgotten', () => {
  const buckets = new RateBuckets(() => 0)
  const once = { perSecond: 1, atOnce: 1 }
  expect(buckets.take('first', once)).toBe(0)
  expect(buckets.waitMs('first', once)).toBe(1000)
  for (let at = 0; at < 10_000; at += 1) buckets.take(String(at), once)
  expect(buckets.waitMs('9999', once)).toBe(1000)
  expect(buckets.waitMs('first', once)).toBe(0)
})

const many = async (url: string, token: string, count: number): Promise<Response[]> => {
  const answers: Response[] = []
  for (let at = 0; at < count; at += 1) answers.push(await get(url, bearer(token)))
  return answers
}
const statusesOf = (answers: readonly Response[]): number[] => answers.map(({ status }) => status)

test('requests above the limit of a token are 429 with Retry-After and an empty body', async () => {
  const url = await openFake({}, { requestsPerSecond: 0.01 })
  const [first, second] = await many(`${url}/v2/batches/batch-files`, TOKEN, 2)
  expect(first?.status).toBe(200)
  expect([...(first?.headers.keys() ?? [])].filter((name) => name.includes('ratelimit'))).toEqual([])
  expect(second?.status).toBe(429)
  expect(second?.headers.get('retry-after')).toBe('100')
  expect(await second?.text()).toBe('')
  // Another operation, the same token; then another token.
  expect(statusesOf(await many(`${url}/v2/relations/search-parameters`, TOKEN, 1))).toEqual([429])
  expect(statusesOf(await many(`${url}/v2/relations/search-parameters`, SWEDISH, 1))).toEqual([200])
})

test("a token's own limit counts more than the one for all, and none means none", async () => {
  const tokens = newTokenRegistry([SWEDISH_ENTRY, entry('slow', TOKEN, { requestsPerSecond: 0.01 })])
  const url = `${await openFake({ tokens })}/v2/batches/batch-files`
  expect(statusesOf(await many(url, TOKEN, 2))).toEqual([200, 429])
  expect(statusesOf(await many(url, SWEDISH, 50))).toEqual(Array(50).fill(200))
})

test('requests without a token and addresses without data are not limited', async () => {
  const url = await openFake({}, { requestsPerSecond: 0.01 })
  for (let at = 0; at < 3; at += 1) {
    expect((await get(`${url}/healthz`, {})).status).toBe(200)
    expect((await get(`${url}/v2/batches/batch-files`, {})).status).toBe(401)
  }
})

test('requests of a token under way beyond the limit are 429, and those of another token are answered', async () => {
  const release = Promise.withResolvers<void>()
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  const search: Search = async () => {
    begun[asked++]?.resolve()
    await release.promise
    return { kind: 'refused', messages: ['x'] }
  }
  const url = await openFake({ companies: search }, { requestsAtOnce: 2 })
  const first = [post(`${url}/v2/companies`, {}), post(`${url}/v2/companies`, {})]
  await Promise.all(begun.map(({ promise }) => promise))
  const third = await post(`${url}/v2/relations`, {})
  expect([third.status, third.headers.get('retry-after'), await third.text()]).toEqual([429, '1', ''])
  expect((await post(`${url}/v2/relations`, {}, bearer(SWEDISH))).status).toBe(200)
  release.resolve()
  for (const answer of await Promise.all(first)) await answer.text()
  await expect.poll(async () => (await post(`${url}/v2/relations`, {})).status).toBe(200)
})

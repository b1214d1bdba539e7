/** Pulls and syncs whose windows leave companies out. */

import { expect, test } from 'vitest'
import { verify } from '../../run/batch-bench.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, type PullBench } from '../../service/pull-bench.ts'

const dayOf = (id: number): string =>
  new Date(Date.UTC(2026, 5, 15) - (id % 300) * 86_400_000).toISOString().slice(0, 10)

/** One in thirty has no status, and one in twenty no date: statuses cut better. */
const companies = (count: number, statuses: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => at + 1).map((id) => ({
    ...{ id, country: 'SE' },
    ...(id % 30 > 0 && { status: 10 + (id % statuses) }),
    ...(id % 20 > 0 && { dates: { ContentUpdatedAt: dayOf(id) } }),
  }))

const countOf = async (one: PullBench, table = 'companies'): Promise<unknown> =>
  (await one.query(`SELECT count(*) FROM ${table}`))[0]?.[0]

test('pull brings what no window covers where page mode reaches it, each company once', async () => {
  const one = await openPullBench({ companies: companies(1500, 10), cap: 200 })
  const { entry, windows, plan } = await one.pull({ pageSize: 100 })
  expect(plan).toMatchObject({ announced: 1500, planned: 1450, closing: { missing: 50, expected: 50 } })
  expect(entry).toMatchObject({ announced: 1500, planned: 1450, received: 1500, gapLeft: 0 })
  expect(windows.at(-1)).toMatchObject({
    name: 'companies not covered by any window 1/1, by InternalId',
    received: 50,
  })
  expect([await countOf(one), await countOf(one, 'companies_history')]).toEqual([1500, 1500])
  const { pulls, partitions } = await one.snapshot()
  expect(pulls).toEqual([entry])
  expect(partitions.at(-1)?.source.window).toMatchObject({ search: { CountryCode: ['SE'] }, received: 50 })
  expect((await verify(one.lake)).problems).toEqual([])
  // As said beforehand: counts apart, not more requests than those.
  expect(one.fake.pages.filter(({ minified }) => minified)).toHaveLength(3)
  // The next pull goes on from this one.
  expect((await one.pull({ since: 'last' })).plan.since).toMatchObject({ run: entry.run })
})

test('pull without closing leaves the gap as it is, and says how much', async () => {
  const one = await openPullBench({ companies: companies(1500, 10), cap: 200 })
  const { entry, plan } = await one.pull({ pageSize: 100, closeGap: false })
  expect(plan).not.toHaveProperty('closing')
  expect(entry).toMatchObject({ received: 1450, gapLeft: 50 })
  expect(one.fake.pages.some(({ minified }) => minified)).toBe(false)
})

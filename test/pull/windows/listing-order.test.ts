/** Text searches: page mode orders their hits by score. */

import { expect, test } from 'vitest'
import { syncSearch } from '../../../src/jobs/sync.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, type PullBench } from '../../service/pull-bench.ts'

const companies = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: at + 1, country: 'SE' },
    ...(at % 10 > 0 && { dates: { ContentUpdatedAt: `2026-0${1 + (at % 5)}-0${1 + (at % 9)}` } }),
  }))

const syncOf = (one: PullBench, search: Record<string, string[]>) =>
  syncSearch(
    one.fake.url,
    { search },
    { lake: one.lake, service: one.service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 } },
  )

test.each([
  ['DynamicSearch', true],
  ['dynamicsearch', false],
  ['SEMANTICSEARCH', true],
  ['SemanticSearch', false],
])('sync lists a search by %s, where the service sorts by InternalId: %s', async (name, sortable) => {
  const one = await openPullBench({ companies: companies(1200), sortable })
  const { findings, entry } = await syncOf(one, { [name]: ['steel'] })
  expect(findings).toMatchObject({ listed: 1200, changed: [] })
  expect(findings.new).toHaveLength(1200)
  expect(entry).toMatchObject({ announced: 1200, received: 1200 })
  const listed = one.fake.pages.filter(({ minified }) => minified)
  expect(new Set(listed.map(({ sortBy }) => sortBy))).toEqual(new Set([sortable ? 'InternalId' : undefined]))
  expect((await syncOf(one, { [name]: ['steel'] })).findings).toMatchObject({ new: [], unchanged: 1200 })
})

test('sync asks a search by InternalId for no other order', async () => {
  const one = await openPullBench({ companies: companies(5), sortable: true })
  await syncOf(one, { CountryCode: ['SE'] })
  expect(one.fake.pages.filter(({ sortBy }) => sortBy !== undefined)).toEqual([])
})

test.each([true, false])(
  'pull closes the gap of a text search, sorted by InternalId: %s',
  async (sortable) => {
    const one = await openPullBench({ companies: companies(1200), cap: 400, sortable })
    const { entry } = await one.pull({ search: { dynamicSearch: ['steel'] }, cap: 400 })
    expect(entry).toMatchObject({ announced: 1200, planned: 1080, received: 1200 })
    expect(entry.gapLeft ?? 0).toBe(0)
    expect(await one.query('SELECT count(*), count(DISTINCT internal_id) FROM companies_history')).toEqual([
      [1200, 1200],
    ])
  },
)

test('sync goes through hits again that changed places between two pages', async () => {
  // The first time the second page begins with the end of the first one.
  const one = await openPullBench({
    companies: companies(700),
    byScore: (hits, page, nth) =>
      page === 2 && nth === 2 ? [...hits.slice(100), ...hits.slice(0, 100)] : hits,
  })
  const { findings, entry } = await syncOf(one, { DynamicSearch: ['steel'] })
  expect(findings.listed).toBe(700)
  expect(entry).toMatchObject({ announced: 700, received: 700 })
})

test('sync says how many hits it could not list, and calls none of the others gone', async () => {
  const one = await openPullBench({
    companies: companies(700),
    byScore: (hits, page) => (page === 2 ? [...hits.slice(100), ...hits.slice(0, 100)] : hits),
  })
  const { findings, entry, summary } = await syncOf(one, { DynamicSearch: ['steel'] })
  expect(findings.listed).toBe(600)
  expect(entry).toMatchObject({ announced: 700, received: 600 })
  expect(summary.gone).toBeUndefined()
})

/** Pulls of more than page mode reaches whose windows leave companies out, and one that is killed meanwhile. */

import { expect, test } from 'vitest'
import { syncSearch } from '../../../src/jobs/sync.ts'
import { cli } from '../../cli/run-cli.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench } from '../../service/pull-bench.ts'

const dayOf = (id: number): string =>
  new Date(Date.UTC(2026, 5, 15) - (id % 300) * 86_400_000).toISOString().slice(0, 10)

/** One in thirty has no status, and one in twenty no date: statuses cut better. */
const companies = (count: number, statuses: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => at + 1).map((id) => ({
    ...{ id, country: 'SE' },
    ...(id % 30 > 0 && { status: 10 + (id % statuses) }),
    ...(id % 20 > 0 && { dates: { ContentUpdatedAt: dayOf(id) } }),
  }))

test('pull that is killed while it closes a gap goes on there, lists nothing again, and brings each company once', async () => {
  let kill: (() => void) | undefined
  let asked = 0
  const one = await openPullBench({
    companies: companies(3000, 17),
    cap: 200,
    before: ({ search }) => {
      if (search.InternalId === undefined) return undefined
      asked += 1
      if (asked !== 2 || kill === undefined) return undefined
      kill()
      kill = undefined
      return new Promise(() => undefined)
    },
  })
  const env = { FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token }
  const search = ['--search', '{"CountryCode":["SE"]}', '--cap', '200', '--page-size', '50']
  const args = ['pull', 'companies', '--lake', one.lake, ...search, '--trust-clock']
  const killed = await cli([...args, '--json', '--max-requests-per-second', '2000'], {
    env,
    onStart: (child) => {
      kill = () => child.kill('SIGKILL')
    },
  })
  expect(killed.code).toBe(null)
  const listed = one.fake.pages.filter(({ minified }) => minified).length
  expect(listed).toBe(6)
  const { code, stdout, stderr } = await cli([...args, '--json', '--max-requests-per-second', '2000'], {
    env,
  })
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('no window, and not found')])
  expect(JSON.parse(stdout)).toMatchObject({ records: 3000, pull: { received: 3000, gap: 0, gapLeft: 0 } })
  expect(one.fake.pages.filter(({ minified }) => minified)).toHaveLength(listed)
  // Two pages in each try, if the first of them was still on its way to the disk.
  expect(asked).toBeLessThanOrEqual(4)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[3000]])
  expect(await one.runs()).toEqual([])
})

test('pull and syncSearch bring along dates what has no status, and say what is left', async () => {
  // 12,000 are more than page mode reaches from both ends; 400 have no status, 200 of those no date either.
  const all = companies(12_000, 13)
  const left = all.filter(({ status, dates }) => status === undefined && dates === undefined).length
  const one = await openPullBench({ companies: all, cap: 1000 })
  const { entry, plan } = await one.pull({ pageSize: 500 })
  expect(plan.closing).toMatchObject({ missing: 400, expected: 400 - left })
  expect(entry).toMatchObject({ announced: 12_000, planned: 11_600, received: 12_000 - left, gapLeft: left })
  expect((await one.query('SELECT count(*) FROM companies_history'))[0]?.[0]).toBe(12_000 - left)
  const call = {
    lake: one.lake,
    service: one.service,
    concurrency: 2,
    maxQuarantined: { kind: 'count', lines: 0 },
  } as const
  const synced = await syncSearch(one.fake.url, { search: { CountryCode: ['SE'] } }, call)
  expect(synced.findings).toMatchObject({ listed: 12_000 - left, new: [], changed: [], vanished: [] })
  expect(synced.entry).toMatchObject({ announced: 12_000, received: 12_000 - left, gapLeft: left })
  // With an empty lake nothing is asked for by what it holds.
  const asked = { search: { CountryCode: ['SE'] }, closeGap: false }
  const apart = await syncSearch(one.fake.url, asked, { ...call, lake: `${one.lake}-2` })
  expect(apart.entry).toMatchObject({ received: 11_600, gapLeft: 400 })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { forget } from '../../../src/jobs/forget.ts'
import type { PullRunOptions } from '../../../src/jobs/pull.ts'
import { type SyncSummary, syncSearch } from '../../../src/jobs/sync.ts'
import { listWindow } from '../../../src/pull/windows/listing.ts'
import type { PullSettings } from '../../../src/pull/windows/pull-settings.ts'
import { resumeRuns } from '../../jobs/resume/resume-runs.ts'
import { flipBit } from '../../manifest/damage.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const company = (id: number, day: string, more: Partial<FakeCompany> = {}): FakeCompany => ({
  id,
  country: 'SE',
  dates: { ContentUpdatedAt: day, CompanyInfoUpdatedAt: '2025-01-01' },
  ...more,
})

const companies = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => company(at + 1, `2026-0${1 + (at % 5)}-0${1 + (at % 9)}`))

const syncOf = (
  one: PullBench,
  settings: Partial<PullSettings> = {},
  options: Partial<PullRunOptions> = {},
): Promise<SyncSummary> =>
  syncSearch(
    one.fake.url,
    { search: SWEDEN, ...settings },
    {
      lake: one.lake,
      service: one.service,
      concurrency: 2,
      maxQuarantined: { kind: 'count', lines: 0 },
      ...options,
    },
  )

const fullPages = (one: PullBench): number => one.fake.pages.filter(({ minified }) => !minified).length

test('sync fetches only what is new or changed, and reports what is unchanged or vanished', async () => {
  const all = companies(40)
  const one = await openPullBench({ companies: all })
  await one.pull()
  const before = fullPages(one)
  one.fake.hold(
    [
      ...all.filter(({ id }) => id > 3),
      company(3, '2026-06-14', { name: 'Changed', country: 'SE' }),
      company(99, '2026-06-15', { name: 'New' }),
    ].sort((a, b) => a.id - b.id),
  )
  const { findings, fetched, entry } = await syncOf(one)
  expect(findings).toEqual({ listed: 39, new: [99], changed: [3], unchanged: 37, vanished: [1, 2] })
  expect(fetched).toBe(2)
  expect(fullPages(one) - before).toBe(1)
  expect(entry).toMatchObject({ announced: 39, received: 39 })
  expect(
    await one.query(
      'SELECT internal_id, company_name FROM companies WHERE internal_id IN (3, 99) ORDER BY 1',
    ),
  ).toEqual([
    [3, 'Changed'],
    [99, 'New'],
  ])
  // What vanished is reported, not removed.
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[41]])
})

test('sync does not ask for companies that the lake was told to forget', async () => {
  const one = await openPullBench({ companies: companies(4) })
  await one.pull()
  await forget({ lake: one.lake, companies: [2] })
  const before = fullPages(one)
  const { findings, fetched } = await syncOf(one)
  expect(findings).toEqual({ listed: 4, new: [], changed: [], unchanged: 3, vanished: [] })
  expect([fetched, fullPages(one) - before]).toEqual([0, 0])
})

test('sync that finds nothing new says so in the manifest', async () => {
  const one = await openPullBench({ companies: companies(40) })
  await one.pull()
  const { findings, summary } = await syncOf(one)
  expect(findings).toEqual({ listed: 40, new: [], changed: [], unchanged: 40, vanished: [] })
  expect(summary.snapshot?.snapshot).toBe(2)
  expect((await one.snapshot()).pulls).toHaveLength(2)
  expect((await one.pull({ since: 'last' })).plan.since).toMatchObject({ run: summary.run })
})

test('sync sees a change in any of the timestamps', async () => {
  const one = await openPullBench({ companies: [company(1, '2026-01-01'), company(2, '2026-01-01')] })
  await one.pull()
  const dates = { ContentUpdatedAt: '2026-01-01', CompanyInfoUpdatedAt: '2025-01-02' }
  one.fake.hold([company(1, '2026-01-01'), company(2, '2026-01-01', { dates })])
  expect((await syncOf(one)).findings).toMatchObject({ changed: [2], unchanged: 1 })
})

test('sync lists more than page mode reaches, and fills an empty lake', async () => {
  const one = await openPullBench({ companies: companies(6_000) })
  const { findings, plan, fetched } = await syncOf(one)
  expect(plan.windows.length).toBeGreaterThan(1)
  expect(findings.new).toHaveLength(6_000)
  expect(fetched).toBe(6_000)
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[6_000]])
  expect((await syncOf(one)).findings).toMatchObject({
    new: [],
    changed: [],
    unchanged: 6_000,
    vanished: [],
  })
})

test('sync does not take for vanished what only stands in no window', async () => {
  const some = companies(6_000).map((one) => (one.id % 100 === 0 ? { id: one.id, country: 'SE' } : one))
  const one = await openPullBench({ companies: some })
  await one.pull({ pageSize: 500 })
  const { findings, plan } = await syncOf(one)
  expect(plan.announced - plan.planned).toBe(60)
  expect(findings).toMatchObject({ listed: 6_000, new: [], changed: [], vanished: [] })
})

test.each([
  [true, 5630],
  [false, 5600],
])(
  'sync lists what the parts of a window leave out that outgrew page mode meanwhile, or counts it (sorted: %s)',
  async (sortable, listed) => {
    const undated = Array.from({ length: 30 }, (_, at): FakeCompany => ({ id: 9001 + at, country: 'SE' }))
    const one = await openPullBench({
      sortable,
      companies: companies(4000),
      before: (_, nth) => {
        if (nth === 1) one.fake.hold([...companies(5600), ...undated])
        return undefined
      },
    })
    const { findings, entry, fetched } = await syncOf(one)
    expect([findings.listed, fetched]).toEqual([listed, listed])
    expect(entry).toMatchObject({ announced: 5630, received: listed })
    expect(entry.gapLeft ?? 0).toBe(5630 - listed)
  },
)

test('sync does not say what vanished where the lake cannot tell what the search means', async () => {
  const one = await openPullBench({ companies: companies(10) })
  const search = { ...SWEDEN, ContentUpdatedAt: ['2026-01-01'] }
  await one.pull({ search })
  one.fake.hold(companies(5))
  expect((await syncOf(one, { search })).findings).not.toHaveProperty('vanished')
})

test('sync takes only the companies of its own search for vanished', async () => {
  const one = await openPullBench({
    companies: [...companies(5), company(6, '2026-01-01', { country: 'NO' })],
  })
  await one.pull({ search: { CountryCode: ['SE', 'NO'] } })
  expect((await syncOf(one)).findings).toMatchObject({ vanished: [], unchanged: 5 })
  one.fake.hold([])
  const { findings } = await syncOf(one, { search: { countrycode: ['se'] } })
  expect(findings).toMatchObject({ listed: 0, vanished: [1, 2, 3, 4, 5] })
})

test('sync that is cut off goes on with what it has listed and found', async () => {
  const one = await openPullBench({
    companies: companies(1500),
    before: ({ minified }, nth) => {
      if (!minified && nth > 4) stop.abort()
      return undefined
    },
  })
  const stop = new AbortController()
  await expect(syncOf(one, {}, { signal: stop.signal })).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const listed = one.fake.pages.filter(({ minified }) => minified).length
  expect(listed).toBe(3)
  const { fetched } = await syncOf(one)
  expect(fetched).toBe(1500)
  expect(one.fake.pages.filter(({ minified }) => minified).length).toBe(listed)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[1500]])
})

test('sync that is cut off while it lists keeps what it has listed', async () => {
  const stop = new AbortController()
  const one = await openPullBench({
    companies: companies(6_000),
    before: (_, nth) => {
      if (nth === 10) stop.abort()
      return undefined
    },
  })
  const options = { signal: stop.signal, concurrency: 1 }
  await expect(syncOf(one, {}, options)).rejects.toThrow()
  expect(await one.runs()).toHaveLength(1)
  const [asked, counted] = [one.fake.pages.length, one.fake.counts()]
  expect((await syncOf(one)).findings.new).toHaveLength(6_000)
  expect(one.fake.counts()).toBe(counted)
  const listed = one.fake.pages.slice(asked).filter(({ minified }) => minified).length
  expect(listed).toBe(5)
})

test('listWindow lists again a window whose file was damaged, and only that', async () => {
  const path = join(await temporaryFolder(), '00000.jsonl')
  const one = await openPullBench({ companies: companies(30) })
  const list = (): Promise<void> =>
    listWindow(SWEDEN, path, { service: one.service, cutAgain: async () => ({ searches: [], missing: 0 }) })
  await list()
  const [whole, asked] = [await readFile(path, 'utf8'), one.fake.pages.length]
  await list()
  expect(one.fake.pages).toHaveLength(asked)
  await flipBit(path, 50, 0)
  await list()
  expect(await readFile(path, 'utf8')).toBe(whole)
  expect(one.fake.pages.length).toBeGreaterThan(asked)
})

test('resume brings a sync to its end', async () => {
  const stop = new AbortController()
  const one = await openPullBench({
    companies: companies(1500),
    // What resumes has the clock of this machine.
    now: new Date().toISOString(),
    before: ({ minified }) => {
      if (!minified) stop.abort()
      return undefined
    },
  })
  await expect(syncOf(one, {}, { signal: stop.signal })).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await one.runs()
  vi.stubEnv('FIRMLAKE_TOKEN', one.fake.token)
  vi.stubEnv('FIRMLAKE_URL', one.fake.url)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const limit = { kind: 'count', lines: 0 } as const
  expect(await resumeRuns({ run, lake: one.lake, maxQuarantined: limit })).toMatchObject([{ kind: 'loaded' }])
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[1500]])
})

test('sync refuses a misspelt parameter', async () => {
  const one = await openPullBench({ companies: companies(1) })
  await expect(syncOf(one, { search: { CountryCod: ['SE'] } })).rejects.toMatchObject({
    code: 'PARAMETER_REFUSED',
  })
})

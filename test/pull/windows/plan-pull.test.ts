import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkSearch, sameSearch } from '../../../src/pull/windows/search.ts'
import { makeRunFolder } from '../../../src/run/opened-job.ts'
import { resumeRuns } from '../../jobs/resume/resume-runs.ts'
import { verify } from '../../run/batch-bench.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const DAY_MS = 86_400_000
const dayBefore = (days: number): string =>
  new Date(Date.UTC(2026, 5, 15) - days * DAY_MS).toISOString().slice(0, 10)

/** Swedish companies from 1 on, `perDay` on each day back from 2026-06-15. */
const companies = (count: number, perDay = 10): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    country: 'SE',
    dates: { ContentUpdatedAt: dayBefore(Math.floor(at / perDay)) },
  }))

const idsOf = async (one: PullBench): Promise<unknown[]> =>
  (await one.query('SELECT internal_id FROM companies ORDER BY 1')).flat()

const oneTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

test('pull loads a search as one window, and the manifest tells what was asked for and received', async () => {
  const one = await openPullBench({ companies: companies(35) })
  const { summary, entry } = await one.pull({ currency: 'EUR' })
  expect(await idsOf(one)).toEqual(oneTo(35))
  const { partitions, pulls } = await one.snapshot()
  const service = one.fake.url
  expect(partitions).toMatchObject([
    {
      content: 'companies',
      source: {
        kind: 'search',
        window: { service, search: SWEDEN, currency: 'EUR', announced: 35, received: 35, pages: 4 },
      },
      range: { requested: null },
      counts: { records: 35 },
    },
  ])
  expect(pulls).toEqual([
    {
      run: summary.run,
      content: 'companies',
      service,
      search: SWEDEN,
      currency: 'EUR',
      asOf: '2026-06-15T12:00:00.000Z',
      announced: 35,
      planned: 35,
      received: 35,
    },
  ])
  expect(pulls).toEqual([entry])
  expect((await verify(one.lake)).problems).toEqual([])
  expect(await readdir(join(one.lake, '_runs'))).toEqual([])
})

test('pull brings more than the cap, window by window in the order of their dates', async () => {
  const one = await openPullBench({ companies: companies(200), cap: 60 })
  const { windows, entry } = await one.pull()
  expect(await idsOf(one)).toEqual(oneTo(200))
  expect(windows.length).toBeGreaterThan(3)
  expect(entry).toMatchObject({ field: 'ContentUpdatedAt', announced: 200, planned: 200, received: 200 })
  const { partitions } = await one.snapshot()
  const asked = partitions.map(({ range }) => range.requested)
  expect(asked[0]).not.toHaveProperty('from')
  expect(asked.at(-1)).not.toHaveProperty('to')
  const starts = asked.map((requested) => requested?.from ?? '')
  expect(starts).toEqual([...starts].sort())
  for (const { source } of partitions) expect(source.window?.received).toBe(source.window?.announced)
  expect((await verify(one.lake)).problems).toEqual([])
})

test('pull loads windows of equal bytes, such as two empty ones', async () => {
  const one = await openPullBench({
    companies: companies(200),
    cap: 60,
    before: (request) => {
      return request.search.ContentUpdatedAt === undefined ? undefined : { companies: [], cursor: null }
    },
  })
  const { windows, entry } = await one.pull()
  expect(windows.length).toBeGreaterThan(1)
  expect(entry).toMatchObject({ announced: 200, planned: 200, received: 0 })
  const { partitions } = await one.snapshot()
  expect(new Set(partitions.map(({ id }) => id)).size).toBe(windows.length)
  const warnings = one.events.flatMap((event) => (event.kind === 'warning' ? [event.text] : []))
  expect(warnings).toHaveLength(windows.length)
  expect(warnings[0]).toContain('only with a whole pull')
})

test('pull loses no company that moves from an older window to the newest meanwhile', async () => {
  // The greater the id, the newer.
  const all = companies(100).map(({ id }) => ({
    id,
    country: 'SE',
    dates: { ContentUpdatedAt: dayBefore(20 - Math.floor(id / 10)) },
  }))
  const moved = { id: 30, name: 'Moved', country: 'SE', dates: { ContentUpdatedAt: '2026-06-15' } }
  const one = await openPullBench({
    companies: all,
    cap: 40,
    before: ({ search, cursor }) => {
      // Company 30 stands in the oldest window; it moves to the newest when its page is asked for.
      if (search.ContentUpdatedAt?.[0] === '0001-01-01' && cursor !== '*')
        one.fake.hold(all.map((company) => (company.id === 30 ? moved : company)))
      return undefined
    },
  })
  await one.pull({}, { concurrency: 4 })
  expect(await idsOf(one)).toEqual(oneTo(100))
  expect(await one.query('SELECT company_name FROM companies WHERE internal_id = 30')).toEqual([['Moved']])
})

test('pull names what no window covers, in its plan and in the manifest', async () => {
  const some = companies(200).map((company) =>
    company.id % 4 === 0 ? { id: company.id, country: 'SE' } : company,
  )
  const one = await openPullBench({ companies: some, cap: 60 })
  const { plan, entry } = await one.pull({ closeGap: false })
  expect(plan).toMatchObject({ announced: 200, planned: 150 })
  expect(entry).toMatchObject({ announced: 200, planned: 150, received: 150, gapLeft: 50 })
  expect((await one.snapshot()).pulls?.[0]).toMatchObject({ announced: 200, planned: 150 })
})

test('pull resumes at its last page, with the windows planned before', async () => {
  const stop = new AbortController()
  const one = await openPullBench({
    companies: companies(200),
    cap: 60,
    before: (_, nth) => {
      if (nth === 10) stop.abort()
      return undefined
    },
  })
  await expect(one.pull({}, { signal: stop.signal, concurrency: 1 })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  })
  const [run] = await one.runs()
  expect(run).toBeDefined()
  const [asked, counted] = [one.fake.pages.length, one.fake.counts()]
  const { summary } = await one.pull({}, { concurrency: 1 })
  expect(summary.run).toBe(run)
  // Nine pages were kept; the tenth and all after it are asked for, and no count.
  expect(one.fake.pages.length - asked).toBeLessThanOrEqual(14)
  expect(one.fake.counts()).toBe(counted)
  expect(one.events.filter(({ kind }) => kind === 'planned')).toMatchObject([
    { resumed: false },
    { resumed: true },
  ])
  expect(await idsOf(one)).toEqual(oneTo(200))
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[200]])
})

test('resume brings a pull to its end by what stands in its plan', async () => {
  const stop = new AbortController()
  const one = await openPullBench({
    companies: companies(100),
    // What resumes has the clock of this machine.
    now: new Date().toISOString(),
    cap: 60,
    before: (_, nth) => {
      if (nth === 5) stop.abort()
      return undefined
    },
  })
  await expect(one.pull({}, { signal: stop.signal })).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await one.runs()
  vi.stubEnv('FIRMLAKE_TOKEN', one.fake.token)
  vi.stubEnv('FIRMLAKE_URL', one.fake.url)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const limit = { kind: 'count', lines: 0 } as const
  await expect(resumeRuns({ run, lake: one.lake, maxQuarantined: limit })).resolves.toMatchObject([
    { kind: 'loaded' },
  ])
  expect(await idsOf(one)).toEqual(oneTo(100))
})

test('pull of other settings does not take over a run that was cut off', async () => {
  const stop = new AbortController()
  const one = await openPullBench({
    companies: companies(50),
    before: (_, nth) => {
      if (nth === 3) stop.abort()
      return undefined
    },
  })
  await expect(one.pull({}, { signal: stop.signal })).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run] = await one.runs()
  const { summary } = await one.pull({ pageSize: 20 })
  expect(summary.run).not.toBe(run)
  expect(await one.runs()).toEqual([run])
})

test('pull since last goes on from the day before the last pull of the same search', async () => {
  const one = await openPullBench({ companies: companies(100) })
  expect((await one.pull({ since: 'last' })).plan).toMatchObject({ since: {}, announced: 100 })
  const first = (await one.snapshot()).run
  const changed = { id: 100, name: 'Changed', country: 'SE', dates: { ContentUpdatedAt: '2026-06-15' } }
  one.fake.hold([...companies(99), changed])
  const { plan, entry } = await one.pull({ since: 'last', search: { countrycode: ['SE'] } })
  expect(plan.since).toEqual({ from: '2026-06-14', run: first })
  expect(entry).toMatchObject({ from: '2026-06-14', field: 'ContentUpdatedAt', announced: 21, received: 21 })
  expect(await one.query('SELECT company_name FROM companies WHERE internal_id = 100')).toEqual([['Changed']])
  expect(await idsOf(one)).toEqual(oneTo(100))
  const inEuro = await one.pull({ since: 'last', currency: 'EUR' }, { changeCurrency: true })
  expect(inEuro.plan.since).toEqual({})
})

test('pull since last goes on by the date of change that the search has itself', async () => {
  const dated = companies(20).map((company) => ({
    ...company,
    dates: { CompanyInfoUpdatedAt: '2026-06-14' },
  }))
  const one = await openPullBench({
    companies: dated,
    dateParameters: ['ContentUpdatedAt', 'CompanyInfoUpdatedAt'],
  })
  const search = { CompanyInfoUpdatedAt: ['2026-01-01'] }
  await one.pull({ search, since: '2026-06-01' })
  const { plan } = await one.pull({ search, since: 'last' })
  expect(plan).toMatchObject({ since: { from: '2026-06-14' }, field: 'CompanyInfoUpdatedAt' })
})

test('pull since last goes on from the last day asked for where that was earlier', async () => {
  const one = await openPullBench({ companies: companies(100) })
  await one.pull({ since: '2026-06-01', until: '2026-06-10' })
  expect((await one.pull({ since: 'last' })).plan.since).toMatchObject({ from: '2026-06-10' })
})

test('pull since last says how many records have no day, so that no day finds their changes', async () => {
  const one = await openPullBench({
    companies: [...companies(20), ...[21, 22, 23].map((id) => ({ id, country: 'SE' }))],
  })
  const first = await one.pull({ since: 'last', search: { CountryCode: ['SE', 'NO', 'DK', 'FI'] } })
  expect(first.plan.undated).toBeUndefined()
  const next = await one.pull({ since: 'last', search: { CountryCode: ['SE', 'NO', 'DK', 'FI'] } })
  expect(next.plan).toMatchObject({ undated: 3 })
})

test('pull records a pull in which nothing came, so that the next goes on from there', async () => {
  const one = await openPullBench({ companies: companies(10), now: '2026-08-01T00:00:00Z' })
  await one.pull({ since: '2026-07-01' })
  expect((await one.snapshot()).pulls).toMatchObject([{ received: 0, from: '2026-07-01' }])
  expect((await one.pull({ since: 'last' })).plan.since).toMatchObject({ from: '2026-07-31' })
})

test('pull refuses a misspelt parameter and names the nearest, before there is a lake', async () => {
  const one = await openPullBench({ companies: companies(10) })
  await expect(one.pull({ search: { ContryCode: ['SE'] } })).rejects.toMatchObject({
    code: 'PARAMETER_REFUSED',
    context: { nearest: 'CountryCode' },
  })
  await expect(one.pull({ by: 'ContentUpdated' })).rejects.toMatchObject({ code: 'PARAMETER_REFUSED' })
  await expect(one.pull({ search: {} })).rejects.toMatchObject({ code: 'SEARCH_MISSING' })
  await expect(one.pull({ since: '2026-02-30' })).rejects.toMatchObject({ code: 'USAGE' })
  await expect(one.pull({ since: '2026-02-02', until: '2026-02-01' })).rejects.toMatchObject({
    code: 'USAGE',
  })
  await expect(readdir(one.lake)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('pull that cannot be planned leaves no run behind, and no lake', async () => {
  const same = companies(100, 100).map(({ id, dates }) => ({ id, country: 'SE', ...(dates && { dates }) }))
  const one = await openPullBench({ companies: same, cap: 60 })
  await expect(one.pull()).rejects.toMatchObject({ code: 'PLAN_IMPOSSIBLE' })
  await expect(readdir(one.lake)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('pull loads relations, cut by the day they changed', async () => {
  const related = companies(100).map((company) => ({
    ...company,
    dates: { RelationsUpdatedAt: company.dates?.ContentUpdatedAt ?? '' },
  }))
  const one = await openPullBench({ companies: related, cap: 60 })
  const { entry } = await one.pull({ content: 'relations' })
  expect(entry).toMatchObject({ content: 'relations', field: 'RelationsUpdatedAt', received: 100 })
  expect(await one.query('SELECT count(*) FROM relations')).toEqual([[100]])
})

test('pull brings 2,500 companies whole through the plan, none of whose windows reaches the cap', async () => {
  const one = await openPullBench({ companies: companies(2_500, 30), cap: 1000 })
  const { windows, entry } = await one.pull({ pageSize: 500 })
  expect(entry).toMatchObject({ announced: 2_500, planned: 2_500, received: 2_500 })
  expect(windows.length).toBeLessThan(6)
  expect(Math.max(...windows.map(({ received }) => received))).toBeLessThanOrEqual(1000)
  expect(await one.query('SELECT count(*), count(DISTINCT internal_id) FROM companies')).toEqual([
    [2_500, 2_500],
  ])
})

test('checkSearch takes names in any letter case and figures of a year', () => {
  const parameters = [{ name: 'CountryCode' }, { name: 'NetSales' }]
  const check = (search: Readonly<Record<string, readonly (string | number)[]>>): void =>
    checkSearch('companies', search, parameters)
  check({ countrycode: ['SE'], NetSales_Year_2023: [1] })
  expect(() => check({ NetSale_Year_2023: [1] })).toThrow('"NetSales" is the nearest')
  expect(() => check({ CountryCode: ['SE'], countrycode: ['NO'] })).toThrow('twice')
  expect(() => check({ CountryCode: [] })).toThrow('no values')
})

test('sameSearch takes no search that names persons for another one, whose numbers nobody records', () => {
  const search = { CountryCode: ['SE'], nationalIdentificationNumber: ['1 value'] }
  expect(sameSearch(search, search)).toBe(false)
})

test('sameSearch compares what is asked for', () => {
  expect(sameSearch({ CountryCode: ['SE'], LegalForm: [1] }, { legalform: [1], CountryCode: ['SE'] })).toBe(
    true,
  )
  expect(sameSearch({ CountryCode: ['SE'] }, { CountryCode: ['NO'] })).toBe(false)
})

test('pull cuts a window again that has outgrown the cap since it was planned', async () => {
  const one = await openPullBench({
    companies: companies(55),
    cap: 60,
    before: (_, nth) => {
      if (nth === 1) one.fake.hold(companies(150))
      return undefined
    },
  })
  const { entry, windows } = await one.pull()
  expect(entry).toMatchObject({ announced: 150, planned: 55, received: 150 })
  expect(windows).toMatchObject([{ announced: 150, received: 150 }])
  expect(await idsOf(one)).toEqual(oneTo(150))
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[150]])
})

test('pull finds what the parts of a window that outgrew the cap leave out, or says how much it is', async () => {
  const undated = Array.from({ length: 5 }, (_, at) => ({ id: 1001 + at, country: 'SE' }))
  for (const [closeGap, received, said] of [
    [undefined, 155, 'they are looked for along other parameters'],
    [false, 150, 'batch files hold them'],
  ] as const) {
    const one = await openPullBench({
      companies: companies(55),
      cap: 60,
      before: (_, nth) => {
        if (nth === 1) one.fake.hold([...companies(150), ...undated])
        return undefined
      },
    })
    const { entry, windows } = await one.pull({ closeGap })
    expect(entry).toMatchObject({ announced: 155, planned: 55, received })
    expect(entry.received + (entry.gapLeft ?? 0)).toBe(155)
    expect(windows).toMatchObject([{ announced: 155, received }])
    const warnings = one.events.flatMap((event) => (event.kind === 'warning' ? [event.text] : []))
    expect(warnings.join()).toContain(`leave 5 of its records out; ${said}`)
    expect(await one.query('SELECT count(*), count(DISTINCT internal_id) FROM companies_history')).toEqual([
      [received, received],
    ])
  }
})

test('pull that is stopped while it looks for what its parts leave out goes on there, and brings each company once', async () => {
  const undated = Array.from({ length: 5 }, (_, at) => ({ id: 1001 + at, country: 'SE' }))
  const stop = new AbortController()
  let stops = 1
  const one = await openPullBench({
    companies: companies(55),
    cap: 60,
    before: ({ minified, search }, nth) => {
      if (nth === 1) one.fake.hold([...companies(150), ...undated])
      // In its list, and the next time where it fetches what it found.
      if (stops-- > 0 && (minified || 'InternalId' in search)) stop.abort()
      else if (!minified && !('InternalId' in search)) stops = 1
      return undefined
    },
  })
  await expect(one.pull({}, { signal: stop.signal })).rejects.toThrow()
  expect(stop.signal.aborted).toBe(true)
  const before = one.fake.pages.filter(({ minified }) => !minified).length
  const { entry } = await one.pull()
  expect(entry).toMatchObject({ announced: 155, received: 155 })
  expect(entry.gapLeft).toBeUndefined()
  // Of the parts nothing is pulled again.
  expect(one.fake.pages.filter(({ minified }) => !minified).length - before).toBe(1)
  expect(await one.query('SELECT count(*), count(DISTINCT internal_id) FROM companies_history')).toEqual([
    [155, 155],
  ])
})

test('makeRunFolder names what cannot be made', async () => {
  const lake = await temporaryFolder()
  const one = join(lake, 'file')
  await writeFile(one, '')
  const lease = { lake, run: '20261121T094500123Z-1f9a2c', number: 1, base: 0 }
  await expect(makeRunFolder(lease, join(one, 'windows'))).rejects.toMatchObject({ code: 'WRITE_FAILED' })
})

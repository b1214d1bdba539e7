import { expect, test } from 'vitest'
import type { SearchParameters } from '../../../src/contract/requests.ts'
import { estimatePlan } from '../../../src/pull/windows/plan-pull.ts'
import { type PlanRequest, planWindows, type WindowPlan } from '../../../src/pull/windows/plan-windows.ts'
import { filterOf, type LiveParameter } from '../../../src/pull/windows/search.ts'

interface Company {
  readonly country?: string
  readonly status?: number
  readonly content?: string
  readonly info?: string
}

const FIELDS: Readonly<Record<string, keyof Company>> = {
  CountryCode: 'country',
  OperationalStatus: 'status',
  ContentUpdatedAt: 'content',
  CompanyInfoUpdatedAt: 'info',
}
const DATES: readonly LiveParameter[] = ['ContentUpdatedAt', 'CompanyInfoUpdatedAt'].map((name) => ({
  name,
  datatype: 'date',
}))

const matches = (company: Company, search: SearchParameters): boolean =>
  Object.entries(search).every(([name, values]) => {
    const value = company[FIELDS[name] ?? 'content']
    if (!/UpdatedAt$/.test(name)) return values.includes(value ?? '')
    const [from = '', to = '9999-12-31'] = values.map(String)
    return value !== undefined && String(value) >= from && String(value) <= to
  })

const valuesOf = (companies: readonly Company[], field: keyof Company) =>
  [...new Set(companies.flatMap((company) => company[field] ?? []))].map((value) => ({ value }))

interface Planned extends WindowPlan {
  /** Companies in each window, counted by hand. */
  readonly sizes: readonly number[]
}

const planned = async (
  companies: readonly Company[],
  options: Partial<PlanRequest> & { readonly cap: number },
): Promise<Planned> => {
  const search = options.search ?? { CountryCode: ['SE', 'NO', 'DK'] }
  const plan = await planWindows({
    content: 'companies',
    search,
    parameters: DATES,
    coded: async () => [
      { name: 'CountryCode', values: valuesOf(companies, 'country') },
      { name: 'OperationalStatus', values: valuesOf(companies, 'status') },
    ],
    count: async (one) => companies.filter((company) => matches(company, one)).length,
    today: () => '2026-06-15',
    nowMs: () => 0,
    ...options,
  })
  for (const company of companies.filter((one) => matches(one, plan.search))) {
    const windows = plan.windows.filter((window) => matches(company, window.search))
    expect(windows.length).toBeLessThan(2)
  }
  return {
    ...plan,
    sizes: plan.windows.map((window) => companies.filter((one) => matches(one, window.search)).length),
  }
}

/** Companies of Sweden, `perDay` on each of `days` days up to 2026-06-15. */
const onDays = (days: number, perDay: number): Company[] =>
  Array.from({ length: days * perDay }, (_, at) => {
    const day = new Date(Date.UTC(2026, 5, 15) - Math.floor(at / perDay) * 86_400_000)
    return { country: 'SE', content: day.toISOString().slice(0, 10) }
  })

test('planWindows leaves a search whole that fits, up to the cap itself', async () => {
  const plan = await planned(onDays(10, 10), { cap: 100 })
  expect(plan).toMatchObject({ announced: 100, planned: 100, probes: 1 })
  expect(plan.windows).toEqual([
    { search: { CountryCode: ['SE', 'NO', 'DK'] }, requested: null, announced: 100 },
  ])
  expect(plan).not.toHaveProperty('field')
})

test('planWindows cuts by days into few windows that fit, open at both ends and without gaps', async () => {
  const plan = await planned(onDays(100, 10), { cap: 250 })
  expect(plan).toMatchObject({ field: 'ContentUpdatedAt', announced: 1000, planned: 1000 })
  expect(plan.sizes.reduce((a, b) => a + b, 0)).toBe(1000)
  expect(Math.max(...plan.sizes)).toBeLessThanOrEqual(245)
  expect(plan.windows.length).toBeLessThan(8)
  const days = plan.windows.map(({ search }) => filterOf(search, 'ContentUpdatedAt'))
  expect(days[0]?.[0]).toBe('0001-01-01')
  expect(days.at(-1)).toHaveLength(1)
  for (const [at, [, to]] of days
    .slice(0, -1)
    .map((pair) => (pair ?? []).map(String))
    .entries()) {
    const next = Date.parse(String(to)) + 86_400_000
    expect(days[at + 1]?.[0]).toBe(new Date(next).toISOString().slice(0, 10))
  }
  expect(plan.windows[0]?.requested).toEqual({ to: days[0]?.[1] })
  expect(plan.windows.at(-1)?.requested).toEqual({ from: days.at(-1)?.[0] })
})

test('planWindows needs few counts, whether all lies in one week or in thirty years', async () => {
  const week = await planned(onDays(7, 100), { cap: 250 })
  expect(week.probes).toBeLessThan(20)
  const years = await planned(onDays(30 * 365, 1), { cap: 2500 })
  expect(years.probes).toBeLessThan(20)
  expect(years.windows.length).toBeLessThan(9)
})

test('planWindows takes the date that covers all, and names the gap where none does', async () => {
  const some = onDays(100, 10).map(
    (one, at): Company => (at % 4 === 0 ? { country: 'SE', info: one.content ?? '' } : one),
  )
  const partly = await planned(some, { cap: 250 })
  expect(partly).toMatchObject({ field: 'ContentUpdatedAt', announced: 1000, planned: 750 })
  const all = await planned(
    some.map((one) => ({ ...one, info: one.info ?? one.content ?? '' })),
    { cap: 250 },
  )
  expect(all).toMatchObject({ field: 'CompanyInfoUpdatedAt', announced: 1000, planned: 1000 })
})

test('planWindows cuts by codes where these bring more into windows than any date', async () => {
  const countries = ['SE', 'NO', 'DK', 'NO']
  const some = onDays(100, 10).map((one, at): Company => {
    const country = countries[at % 4] ?? 'SE'
    return at % 3 === 0 ? { country } : { country, content: one.content ?? '' }
  })
  const plan = await planned(some, { cap: 600 })
  expect(plan).toMatchObject({ field: 'CountryCode', announced: 1000, planned: 1000 })
  // A country that is too large is cut by its dates, and then the gap is what has none.
  expect(await planned(some, { cap: 400 })).toMatchObject({ field: 'CountryCode', announced: 1000 })
})

test('planWindows cuts by the parameter it is given, also where another covers more', async () => {
  const some = onDays(100, 10).map(
    (one, at): Company => (at % 4 === 0 ? { country: 'SE', info: one.content ?? '' } : one),
  )
  const both = some.map((one) => ({ ...one, content: one.content ?? one.info ?? '' }))
  const plan = await planned(both, { cap: 200, by: 'companyinfoupdatedat' })
  expect(plan).toMatchObject({ field: 'CompanyInfoUpdatedAt', announced: 1000, planned: 250 })
})

test('planWindows keeps within the days asked for and those of the search itself', async () => {
  const companies = onDays(100, 10)
  const asked = await planned(companies, { cap: 100, since: '2026-06-01', until: '2026-06-10' })
  expect(asked).toMatchObject({
    field: 'ContentUpdatedAt',
    from: '2026-06-01',
    to: '2026-06-10',
    announced: 100,
  })
  const own = await planned(companies, {
    cap: 60,
    search: { contentupdatedat: ['2026-05-01', '2026-05-20'], CountryCode: ['SE'] },
    since: '2026-05-11',
  })
  expect(own).toMatchObject({ from: '2026-05-11', announced: 100, planned: 100 })
  expect(own.windows.map(({ requested }) => requested)).toEqual([
    { from: '2026-05-11', to: '2026-05-15' },
    { from: '2026-05-16', to: '2026-05-20' },
  ])
  const nothing = await planned(companies, {
    cap: 60,
    search: { ContentUpdatedAt: ['2026-05-01', '2026-05-20'] },
    since: '2026-06-11',
  })
  expect(nothing).toMatchObject({ windows: [], announced: 0, probes: 1 })
})

test('planWindows takes days as those of a change, unless the search has another date of change itself', async () => {
  const parameters = [...DATES, { name: 'LastFiscalYearEnd', datatype: 'date' }]
  const asked = { cap: 1000, parameters, since: '2026-06-01' }
  const accounts = await planned([], { ...asked, search: { LastFiscalYearEnd: ['2020-01-01'] } })
  expect(accounts).toMatchObject({
    field: 'ContentUpdatedAt',
    search: { LastFiscalYearEnd: ['2020-01-01'], ContentUpdatedAt: ['2026-06-01'] },
  })
  const own = await planned([], { ...asked, search: { CompanyInfoUpdatedAt: ['2020-01-01'] } })
  expect(own).toMatchObject({ field: 'CompanyInfoUpdatedAt' })
})

test('planWindows cuts a day that is too large by country, then by status', async () => {
  const countries = ['SE', 'SE', 'SE', 'NO', 'DK']
  const day = Array.from({ length: 500 }, (_, at) => ({
    country: countries[at % 5] ?? 'SE',
    status: 10 + (at % 7),
    content: '2026-03-03',
  }))
  const plan = await planned([...onDays(3, 10), ...day], { cap: 150 })
  expect(plan).toMatchObject({ announced: 530, planned: 530 })
  expect(plan.sizes.reduce((a, b) => a + b, 0)).toBe(530)
  expect(Math.max(...plan.sizes)).toBeLessThanOrEqual(150)
  const ofSweden = plan.windows.filter(({ search }) => search.OperationalStatus !== undefined)
  expect(ofSweden.length).toBeGreaterThan(1)
  expect(ofSweden.every(({ search }) => search.CountryCode?.join() === 'SE')).toBe(true)
  expect(ofSweden[0]?.requested).toEqual({ from: '2026-03-03', to: '2026-03-03' })
})

test('planWindows counts companies without a value to cut by as part of the gap', async () => {
  const day = Array.from({ length: 300 }, (_, at) => ({
    ...(at % 10 > 0 && { status: 10 + (at % 7) }),
    country: 'SE',
    content: '2026-03-03',
  }))
  expect(await planned(day, { cap: 150 })).toMatchObject({ announced: 300, planned: 270 })
})

test('planWindows refuses what cannot be cut, and names the window', async () => {
  const day = Array.from({ length: 300 }, () => ({ country: 'SE', content: '2026-03-03' }))
  await expect(planned(day, { cap: 150 })).rejects.toMatchObject({
    code: 'PLAN_IMPOSSIBLE',
    message: expect.stringContaining('2026-03-03'),
    context: { announced: 300, cap: 150 },
  })
})

test('planWindows asks again where more came in than a difference can say', async () => {
  const companies = onDays(100, 10)
  let counts = 0
  const plan = await planned(companies, {
    cap: 250,
    count: async (search) => {
      counts += 1
      // Of the third count on, each half has more than the whole had.
      return companies.filter((one) => matches(one, search)).length * (counts > 2 ? 2 : 1)
    },
  })
  expect(plan.sizes.reduce((a, b) => a + b, 0)).toBe(1000)
})

test('estimatePlan counts requests, and says when batch files are better', async () => {
  const plan = await planned(onDays(100, 10), { cap: 250 })
  const pace = { pageSize: 10, concurrency: 4, requestsPerSecond: 2 }
  const estimate = estimatePlan({ ...plan, probeMs: 100 }, pace)
  expect(estimate.requests).toBe(estimate.pages + plan.windows.length)
  expect(estimate.seconds).toBe(estimate.requests / 2)
  expect(estimate).not.toHaveProperty('batchFiles')
  expect(estimatePlan(plan, { ...pace, pageSize: 1 })).toHaveProperty('pages', 1000)
  expect(estimatePlan({ ...plan, announced: 1001 }, pace).batchFiles).toContain('1 of 1001')
})

import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/contract/limits.ts'
import type { SearchParameters } from '../../../src/contract/requests.ts'
import { type ClosingPlan, type PlannedListing, planClosing } from '../../../src/pull/windows/plan-closing.ts'
import { estimatePlan } from '../../../src/pull/windows/plan-pull.ts'
import type { PlannedGap } from '../../../src/pull/windows/plan-windows.ts'
import type { LiveParameter } from '../../../src/pull/windows/search.ts'

type Company = Readonly<Record<string, string | number>>

const PARAMETERS: readonly LiveParameter[] = [
  { name: 'InternalId', datatype: 'number', sortable: true },
  { name: 'OperationalStatus', datatype: 'number', values: [{ value: 10 }, { value: 20 }] },
  { name: 'LegalForm', datatype: 'number', values: [{ value: 1 }, { value: 5 }] },
  { name: 'ContentUpdatedAt', datatype: 'date' },
  { name: 'LastFiscalYearEnd', datatype: 'date' },
  { name: 'NetSales', datatype: 'number' },
]

const isRange = (name: string): boolean => !['OperationalStatus', 'LegalForm', 'Country'].includes(name)

const matches = (company: Company, search: SearchParameters): boolean =>
  Object.entries(search).every(([name, values]) => {
    const value = company[name]
    if (value === undefined) return false
    const [from = '', to] = values
    return isRange(name) ? value >= from && (to === undefined || value <= to) : values.includes(value)
  })

/** What page mode gives of a listing. */
const reached = (companies: readonly Company[], { search, sortBy }: PlannedListing): Company[] => {
  const found = companies.filter((one) => matches(one, search))
  if (sortBy?.direction === 'DESC') found.reverse()
  return found.slice(0, LIMITS.pageReach)
}

const GAP = { Country: ['SE'] }
const withoutStatus = (companies: readonly Company[]): PlannedGap => ({
  ...{ search: GAP, parameter: 'OperationalStatus', values: [10, 20] },
  records: companies.length,
  missing: companies.filter(({ OperationalStatus }) => OperationalStatus === undefined).length,
})

const closed = async (
  companies: readonly Company[],
  parameters = PARAMETERS,
): Promise<ClosingPlan & { readonly found: number; readonly sizes: readonly number[] }> => {
  const count = async (search: SearchParameters): Promise<number> =>
    companies.filter((company) => matches(company, search)).length
  const plan = await planClosing([withoutStatus(companies)], { count, parameters, today: '2026-06-15' })
  const listings = plan.steps.flatMap((step) => step.listings)
  const found = new Set(listings.flatMap((one) => reached(companies, one)))
  const missing = [...found].filter(({ OperationalStatus }) => OperationalStatus === undefined)
  return {
    ...{ ...plan, found: missing.length },
    sizes: listings.map(({ search }) => companies.filter((one) => matches(one, search)).length),
  }
}

const day = (back: number): string =>
  new Date(Date.UTC(2026, 5, 15) - back * 86_400_000).toISOString().slice(0, 10)

/** Companies of one country, one in fifty without a status; `more` says what else each has. */
const many = (count: number, more: (at: number, lacks: boolean) => Company): Company[] =>
  Array.from({ length: count }, (_, at) => {
    const lacks = at % 50 === 0
    return { Country: 'SE', ...(!lacks && { OperationalStatus: at % 2 ? 10 : 20 }), ...more(at, lacks) }
  })

test('planClosing lists a gap whole where page mode reaches it, from both ends where it must', async () => {
  const small = await closed(many(4000, () => ({})))
  expect(small).toMatchObject({ missing: 80, expected: 80, found: 80, probes: 0 })
  expect(small.steps).toMatchObject([{ by: 'InternalId', listings: [{ search: GAP }] }])
  const double = await closed(many(9000, () => ({})))
  expect(double).toMatchObject({ expected: 180, found: 180, probes: 0 })
  expect(double.steps[0]?.listings.map(({ sortBy }) => sortBy?.direction)).toEqual(['ASC', 'DESC'])
})

test('planClosing lists by the date that most of what is missing has, in parts that page mode reaches', async () => {
  const companies = many(14_000, (at) => ({
    LastFiscalYearEnd: day(at % 3),
    ...(at % 1000 > 0 && { ContentUpdatedAt: day(at % 400) }),
  }))
  // The last fiscal year's end covers all, but on three days alone: more than page mode reaches.
  const plan = await closed(companies)
  expect(plan).toMatchObject({ missing: 280, expected: 280, found: 280 })
  expect(plan.steps[0]?.by).toBe('LastFiscalYearEnd')
  expect(Math.max(...plan.sizes)).toBeLessThanOrEqual(2 * LIMITS.pageReach)
})

test('planClosing lists only where something is missing', async () => {
  const companies = many(12_000, (at, lacks) => ({ ContentUpdatedAt: lacks ? day(1) : day(10 + (at % 900)) }))
  const plan = await closed(companies)
  expect(plan).toMatchObject({ expected: 240, found: 240 })
  expect(plan.sizes).toHaveLength(1)
})

test('planClosing goes on along codes and figures for what has no date, and knows what is left', async () => {
  const companies = many(20_000, (at, lacks) => ({
    ...(at % 500 > 0 && { ContentUpdatedAt: day(at % 400) }),
    ...((!lacks || at % 1000 === 0) && { NetSales: (at - 5000) * 1000 }),
    ...(at === 500 && { LegalForm: 5 }),
  }))
  const plan = await closed(companies, PARAMETERS.slice(1))
  expect(plan.steps.map(({ by, expected }) => [by, expected])).toEqual([
    ['ContentUpdatedAt', 360],
    ['LegalForm', 1],
    ['NetSales', 20],
  ])
  expect(plan).toMatchObject({ missing: 400, expected: 381, found: 381 })
})

test('planClosing looks at the ends of orders for what no parameter finds', async () => {
  const companies = many(20_000, (_, lacks) => (lacks ? {} : { ContentUpdatedAt: '2026-01-01' }))
  const sortable = PARAMETERS.map((one) => ({ ...one, sortable: one.name === 'ContentUpdatedAt' }))
  const { steps, expected } = await closed(companies, sortable)
  expect(expected).toBe(0)
  expect(steps.flatMap(({ listings }) => listings)).toMatchObject([
    { sortBy: { column: 'ContentUpdatedAt', direction: 'ASC' }, probe: true },
    { sortBy: { column: 'ContentUpdatedAt', direction: 'DESC' }, probe: true },
  ])
})

test('estimatePlan counts the requests that closing takes', async () => {
  const closing = await closed(many(4000, () => ({})))
  const plan = { windows: [], search: GAP, announced: 4000, planned: 3920, probes: 0, probeMs: 0, closing }
  const estimate = estimatePlan(plan, { pageSize: 500, concurrency: 4 })
  expect(estimate).toMatchObject({ closing: { lists: 8, pages: 1 }, requests: 9 })
  expect(estimate).not.toHaveProperty('batchFiles')
})

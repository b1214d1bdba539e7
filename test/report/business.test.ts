/** The page of business, beside the records that were loaded: sums, the currency, what is left out, and the largest changes. */

import { beforeAll, expect, test } from 'vitest'
import type { Company } from '../../src/contract/objects.ts'
import { query } from '../../src/jobs/query/query.ts'
import { numbersIn } from '../../src/report/numbers.ts'
import { business } from '../../src/report/pages/business.ts'
import type { ReportRow } from '../../src/report/rows.ts'
import { type Figure, figuresOf, growthOf, valueIn } from '../analysis/expected.ts'
import { type SampleRecords, sampleRecords } from '../analysis/sample-lake.ts'
import { sharedLake } from '../support/lakes.ts'
import { plain } from './read-report.ts'

const answers = new Map<string, readonly ReportRow[]>()
let records: SampleRecords
let sales: readonly Figure[] = []
/** The currency of most figures, and the newest year that half as many companies report as any. */
let [unit, newest] = ['', 0]

const most = <T>(all: readonly T[]): readonly [one: T | undefined, count: number] =>
  [...Map.groupBy(all, (one) => one)]
    .map(([one, own]) => [one, own.length] as const)
    .toSorted((a, b) => b[1] - a[1])[0] ?? [undefined, 0]

beforeAll(async () => {
  const lake = await sharedLake('deliveries')
  for (const { id, sql } of business.sections) answers.set(id, await query({ lake, sql }))
  records = await sampleRecords()
  sales = figuresOf(records.current).filter(({ item, isPreferred }) => item === 'NetSales' && isPreferred)
  unit = most(sales.flatMap(({ currency }) => currency ?? []))[0] ?? ''
  const [, fullest] = most(sales.map(({ year }) => year))
  const years = [...Map.groupBy(sales, ({ year }) => year)].filter(([, own]) => 2 * own.length >= fullest)
  newest = Math.max(...years.map(([year]) => year))
})

const rowsOf = (id: string): readonly ReportRow[] => answers.get(id) ?? []
const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
const near = (found: unknown, value: number): void =>
  expect(Math.abs(Number(found) - value)).toBeLessThanOrEqual(0.5 + 1e-9 * Math.abs(value))

test('sales by country and year are the sums of the records in the currency that most of them are in', () => {
  const rows = rowsOf('sales')
  const shown = sales.filter(({ year }) => year <= newest && year > newest - 7)
  const fields = Map.groupBy(shown, ({ country, year }) => `${country ?? ''} ${year}`)
  expect(rows.map((row) => `${row.country_code ?? ''} ${row.years}`).sort()).toEqual(
    [...fields.keys()].sort(),
  )
  for (const row of rows) {
    const own = fields.get(`${row.country_code ?? ''} ${row.years}`) ?? []
    const values = own.map((one) => valueIn(one, unit)).filter((value) => value !== null)
    expect([row.currency, row.companies, row.left_out]).toEqual([
      unit,
      values.length,
      own.length - values.length,
    ])
    if (values.length > 0) near(row.sales, sum(values))
  }
  const ofNewest = shown.filter(({ year }) => year === newest).map((one) => valueIn(one, unit))
  const known = ofNewest.filter((value) => value !== null)
  const left = shown.filter((one) => valueIn(one, unit) === null).length
  expect(left).toBeGreaterThan(0)
  const said = plain(business.lead?.(rowsOf, numbersIn('en')).text ?? '')
  expect(said).toContain(
    `${known.length} companies sold for ${unit} ${(sum(known) / 1e9).toFixed(1)}\u00a0bn in ${newest}`,
  )
  const [section] = business.sections
  const around = { numbers: numbersIn('en'), companyHref: String }
  expect(plain(section?.draw?.(rows, around).text ?? '')).toContain(
    `In ${unit}\u00a0bn, the currency that most of them report in; others are converted by the average rate of each year; ${left} figures in a currency without rates left out.`,
  )
})

test('the largest changes are of companies whose two years compare, by the amount in one currency', () => {
  const moved = growthOf(figuresOf(records.current), 'NetSales')
    .filter(({ year, reason }) => year === newest && reason === null)
    .map(({ id }) => {
      const now = sales.find((one) => one.id === id && one.year === newest)
      const before = figuresOf(records.current.filter((one) => one.BasicDetails?.InternalId === id)).find(
        (one) =>
          one.item === 'NetSales' && one.year === newest - 1 && one.consolidation === now?.consolidation,
      )
      if (now === undefined || before === undefined) throw new TypeError(`No figures of ${id}`)
      // The older year at the rate of the newer one: what the currency did is no change of sales.
      const [nowIn, beforeIn] = [valueIn(now, unit), valueIn({ ...before, year: newest }, unit)]
      return { id, country: now.country, now, before, nowIn, beforeIn }
    })
  const inUnit = moved.flatMap(({ nowIn, beforeIn, ...one }) =>
    nowIn === null || beforeIn === null ? [] : [{ ...one, nowIn, beforeIn }],
  )
  const largest = inUnit.toSorted(
    (a, b) => Math.abs(b.nowIn - b.beforeIn) - Math.abs(a.nowIn - a.beforeIn) || a.id - b.id,
  )
  const rows = rowsOf('sales-changes')
  expect(rows.map((row) => row.internal_id)).toEqual(largest.slice(0, 100).map(({ id }) => id))
  for (const [at, row] of rows.entries()) {
    near(row.old_value, largest[at]?.before.value ?? 0)
    near(row.new_value, largest[at]?.now.value ?? 0)
    near(row.difference, (largest[at]?.nowIn ?? 0) - (largest[at]?.beforeIn ?? 0))
    expect(row.difference_currency).toBe(unit)
  }

  const growth = rowsOf('sales-growth')
  const byCountry = Map.groupBy(inUnit, ({ country }) => country ?? '')
  expect(growth.length).toBe(byCountry.size)
  for (const row of growth) {
    const own = byCountry.get(String(row.country_code ?? '')) ?? []
    expect(row.companies).toBe(own.length)
    near(row.sales_before, sum(own.map(({ beforeIn }) => beforeIn)))
    near(row.sales, sum(own.map(({ nowIn }) => nowIn)))
    const share = sum(own.map(({ nowIn }) => nowIn)) / sum(own.map(({ beforeIn }) => beforeIn)) - 1
    expect(Number(row.percent)).toBeCloseTo(100 * share, 1)
  }
})

test('restatements by the newest load are amounts that the second delivery has otherwise than the first', () => {
  const key = ({ id, consolidation, category, item, year }: Figure): string =>
    [id, consolidation, category, item, year].join(' ')
  const idOf = ({ BasicDetails }: Company): unknown => BasicDetails?.InternalId
  const again = new Set(records.second.companies.map(idOf))
  const before = new Map(
    figuresOf(records.companies.filter((one) => again.has(idOf(one)))).map((one) => [key(one), one]),
  )
  const restated = figuresOf(records.second.companies).flatMap((now) => {
    const old = before.get(key(now))
    return old !== undefined && old.value !== now.value ? [{ old, now }] : []
  })
  const rows = rowsOf('newly-restated')
  expect(rows.length).toBeGreaterThan(3)
  // Scaled by us and by the lake: equal but for the last bit of a double.
  const shown = (id: unknown, before: unknown, now: unknown): string =>
    [id, Number(before).toPrecision(12), Number(now).toPrecision(12)].join(' ')
  expect(rows.map((row) => shown(row.internal_id, row.old_value, row.new_value)).sort()).toEqual(
    restated.map(({ old, now }) => shown(now.id, old.value, now.value)).sort(),
  )
  const differences = rows.map((row) => Math.abs(Number(row.difference)))
  expect(differences).toEqual(differences.toSorted((a, b) => b - a))
})

/** Companies side by side, beside their records: figures as reported and in one currency, of whoever may see them. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../src/server/access/caller.ts'
import { type Figure, figuresOf, valueIn } from '../../analysis/expected.ts'
import { type SampleRecords, sampleRecords } from '../../analysis/sample-lake.ts'
import { sharedLake } from '../../support/lakes.ts'
import { EVERYTHING, openExplorer, swedish } from './explorer-lake.ts'

const ITEMS = ['NetSales', 'TotalRevenue', 'EBITDA', 'EBIT', 'NetProfit']
const BALANCE = ['TotalAssets', 'TotalEquity', 'ShareholderEquity']

let explorer: ReturnType<typeof openExplorer>
let records: SampleRecords
let figures: readonly Figure[] = []
/** Three with other currencies, one whose currency has no rates, one of another country, one without figures. */
let ids: readonly number[] = []

beforeAll(async () => {
  explorer = openExplorer(await sharedLake('deliveries'))
  records = await sampleRecords()
  figures = figuresOf(records.current).filter(
    ({ category, item }) =>
      (category === 'ProfitAndLoss' && ITEMS.includes(item)) ||
      (category === 'BalanceSheet' && BALANCE.includes(item)),
  )
  const one = (fits: (figure: Figure) => boolean): number =>
    figures.find((figure) => figure.item === 'NetSales' && fits(figure))?.id ?? 0
  const silent = records.current.find(
    ({ BasicDetails: details, EnhancedDetails: enhanced }) =>
      details?.InternalId !== undefined &&
      !figuresOf(records.current).some(({ id }) => id === details.InternalId) &&
      !enhanced?.Employees,
  )
  ids = [
    ...['SEK', 'EUR', 'USD'].map((currency) => one((figure) => figure.currency === currency)),
    one((figure) => figure.currency !== null && valueIn(figure, 'EUR') === null),
    one(({ country }) => country === 'NO'),
    Number(silent?.BasicDetails?.InternalId),
  ]
})
afterAll(() => explorer.close())

const ask = (parameters: object, caller: Caller = EVERYTHING) =>
  explorer.ask('compare', parameters, caller, new AbortController().signal)

const rowsOf = async (...asked: Parameters<typeof ask>): Promise<readonly Record<string, unknown>[]> => {
  const reply = await ask(...asked)
  if (reply.kind !== 'answer') throw new TypeError(reply.kind)
  return reply.rows.map((row) => Object.fromEntries(reply.columns.map((name, at) => [name, row[at]])))
}

const key = (of: readonly unknown[]): string => of.join(' ')

test('the rows are the figures of the records, converted by the rates of their years', async () => {
  expect(new Set(ids).size).toBe(6)
  const rows = await rowsOf({ ids, currency: 'EUR' })
  expect([...new Set(rows.map((row) => row.internal_id))]).toEqual(ids)
  expect(rows.filter((row) => row.internal_id === ids[5])).toMatchObject([{ line_item: null, target: 'EUR' }])
  const reported = rows.filter((row) => row.line_item !== null && row.category !== 'Employees')
  const expected = figures.filter(({ id }) => ids.includes(id))
  expect(
    reported
      .map((row) =>
        key([row.internal_id, row.consolidation, row.line_item, row.fiscal_year, row.is_preferred]),
      )
      .sort(),
  ).toEqual(
    expected.map((one) => key([one.id, one.consolidation, one.item, one.year, one.isPreferred])).sort(),
  )
  let without = 0
  for (const row of reported) {
    const one = expected.find(
      ({ id, consolidation, item, year }) =>
        key([id, consolidation, item, year]) ===
        key([row.internal_id, row.consolidation, row.line_item, row.fiscal_year]),
    )
    if (one === undefined) throw new TypeError('a figure that no record has')
    const value = valueIn(one, 'EUR')
    if (value === null) expect(row.value).toBe(null)
    else expect(Number(row.value) / (value || 1)).toBeCloseTo(value === 0 ? 0 : 1, 9)
    expect([row.reported_currency, row.months]).toEqual([one.currency, one.months])
    without += value === null ? 1 : 0
  }
  expect(without).toBeGreaterThan(0)
})

test('without a currency it is the one of most of the companies; who may not see one has none of its rows', async () => {
  const [sek = 0, eur = 0] = ids
  const other = figures.find((one) => one.currency === 'SEK' && one.id !== sek && one.country === 'SE')?.id
  const most = await rowsOf({ ids: [eur, sek, other] })
  expect(new Set(most.map((row) => row.target))).toEqual(new Set(['SEK']))
  const seen = new Set((await rowsOf({ ids }, swedish())).map((row) => row.internal_id))
  const swedes = records.current.flatMap(({ BasicDetails: details }) =>
    details?.CountryCode === 'SE' && ids.includes(Number(details.InternalId)) ? [details.InternalId] : [],
  )
  expect([...seen]).toEqual(ids.filter((id) => swedes.includes(id)))
  expect(seen.size).toBeLessThan(ids.length)
})

test('more than six companies, none, or what is no currency are refused', async () => {
  for (const wrong of [{ ids: [1, 2, 3, 4, 5, 6, 7] }, { ids: [] }, { ids: ['x'] }, { ids, currency: "E'" }])
    expect(await ask(wrong)).toMatchObject({ kind: 'refused' })
})

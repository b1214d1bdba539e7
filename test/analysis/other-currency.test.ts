/** Companies that come again in another currency: only money changes with it. Expected answers are worked out from the records. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { query } from '../../src/jobs/query.ts'
import { records } from '../../src/jobs/records.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { EVERYTHING, openExplorer } from '../server/explorer/explorer-lake.ts'

const company = (InternalId: number, CurrentCurrencyCode: string, Financials: object): object => ({
  BasicDetails: { InternalId, CompanyName: `Company ${InternalId}`, CountryCode: 'SE' },
  MetaData: { CurrentCurrencyCode, FinancialFigureScale: 'Thousands' },
  Financials,
})

/** Figures of each unit, and two that the contract does not know; money is `rate` times what it is in EUR. */
const everyUnit = (rate: number, more: object = {}): object => ({
  ProfitAndLoss: { NetSales: { 2020: 90 * rate, 2021: 99 * rate }, Strange: { 2020: 5 } },
  KeyFinancialRatio: {
    ...{
      EBITDAMargin: { 2020: 0.12, 2021: 0.15 },
      RRK: { 2020: 3 },
      EPS: { 2020: 0.5 * rate },
      PE: { 2020: 11 },
    },
    ...more,
  },
  OtherFinancialItems: {
    ...{ FiscalYearLength: { 2020: 12 }, FiscalYearEndMonth: { 2020: 6 }, TotalCharges: { 2020: 2 } },
  },
  Elsewhere: { NetSales: { 2020: 7 } },
})
const RATIOS = { KeyFinancialRatio: { EquityRatio: { 2020: 0.4 }, RRK: { 2020: 2 } } }

const FIRST = [company(1, 'EUR', everyUnit(1)), company(2, 'EUR', RATIOS), company(3, 'EUR', everyUnit(1))]
/** 1 is the same in dollars, 2 has nothing but ratios, and of 3 a ratio has changed too. */
const SECOND = [
  company(1, 'USD', everyUnit(2)),
  company(2, 'USD', RATIOS),
  company(3, 'USD', everyUnit(2, { PE: { 2020: 12 } })),
]

const MONEY = new Set(['ProfitAndLoss.NetSales', 'KeyFinancialRatio.EPS'])
const NO_PERCENT = { percent: null, old_currency: 'EUR', new_currency: 'USD' }

let folder = ''
let lake = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  for (const some of [FIRST, SECOND])
    await convert({ from: fromRecords('crm', some), lake, again: true, changeCurrency: true })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const rows = (sql: string) => query({ lake, sql })

test('only figures that are money have a currency', async () => {
  const found = await rows('SELECT internal_id AS id, category, line_item, value, currency FROM financials')
  expect(found.length).toBe(2 * 12 + 2)
  for (const { id, category, line_item, currency } of found)
    expect([id, category, line_item, currency]).toEqual([
      ...[id, category, line_item],
      MONEY.has(`${category}.${line_item}`) ? 'USD' : null,
    ])
})

test('restatements are those of money, and of a ratio that did change', async () => {
  const money = [
    { line_item: 'EPS', fiscal_year: 2020, old_value: 0.5, new_value: 1, ...NO_PERCENT },
    { line_item: 'NetSales', fiscal_year: 2020, old_value: 90_000, new_value: 180_000, ...NO_PERCENT },
    { line_item: 'NetSales', fiscal_year: 2021, old_value: 99_000, new_value: 198_000, ...NO_PERCENT },
  ]
  const ratio = {
    ...{ internal_id: 3, line_item: 'PE', fiscal_year: 2020, old_value: 11, new_value: 12 },
    ...{ percent: 100 / 11, old_currency: null, new_currency: null },
  }
  expect(
    await rows(`SELECT internal_id, line_item, fiscal_year, old_value, new_value, percent, old_currency, new_currency
FROM restatements ORDER BY ALL`),
  ).toEqual([
    ...money.map((one) => ({ internal_id: 1, ...one })),
    ...money.map((one) => ({ internal_id: 3, ...one })),
    ratio,
  ])
  expect(
    await rows(
      'SELECT restated::INTEGER AS restated, changed::INTEGER AS changed FROM load_changes WHERE snapshot = 2',
    ),
  ).toEqual([{ restated: 2, changed: 1 }])
})

test('views follow: ratios grow, convert to themselves and stand beside money in one row', async () => {
  const growth = 'SELECT internal_id, round(growth, 9) AS growth, currency FROM growth'
  expect(await rows(`${growth}('EBITDAMargin') ORDER BY 1`)).toEqual(
    [1, 3].map((internal_id) => ({ internal_id, growth: 0.25, currency: null })),
  )
  expect(await rows(`${growth}('NetSales') ORDER BY 1`)).toEqual(
    [1, 3].map((internal_id) => ({ internal_id, growth: 0.1, currency: 'USD' })),
  )
  expect(
    await rows(
      "SELECT round(cagr, 9) AS cagr, currency FROM cagr('EBITDAMargin', 2020, 2021) WHERE internal_id = 1",
    ),
  ).toEqual([{ cagr: 0.25, currency: null }])
  const inDollars = await rows(
    "SELECT category, line_item, value, reported_value, currency, reported_currency FROM financials_in('USD')",
  )
  for (const { category, line_item, value, reported_value, currency, reported_currency } of inDollars) {
    const own = MONEY.has(`${category}.${line_item}`) ? 'USD' : null
    expect([line_item, value, currency, reported_currency]).toEqual([line_item, reported_value, own, own])
  }
  expect(
    await rows(
      'SELECT fiscal_year, currency, NetSales, EBITDAMargin, RRK FROM financials_wide WHERE internal_id = 1 ORDER BY 1',
    ),
  ).toEqual([
    { fiscal_year: 2020, currency: 'USD', NetSales: 180_000, EBITDAMargin: 0.12, RRK: 3 },
    { fiscal_year: 2021, currency: 'USD', NetSales: 198_000, EBITDAMargin: 0.15, RRK: null },
  ])
  expect(
    await rows('SELECT line_item, value, currency FROM latest_figures WHERE internal_id = 2 ORDER BY 1'),
  ).toEqual([
    { line_item: 'EquityRatio', value: 0.4, currency: null },
    { line_item: 'RRK', value: 2, currency: null },
  ])
  expect(
    await rows(
      "SELECT convert_currency(value, currency, fiscal_year, 'EUR') AS eur FROM financials WHERE line_item = 'RRK'",
    ),
  ).toEqual([{ eur: null }, { eur: null }, { eur: null }])
})

test('the explorer calls the same figures restated', async () => {
  const explorer = openExplorer(lake)
  try {
    const ask = async (name: string, id: number): Promise<Record<string, unknown>[]> => {
      const reply = await explorer.ask(name, { id }, EVERYTHING, new AbortController().signal)
      if (reply.kind !== 'answer') throw new TypeError(`Cannot read rows of "${reply.kind}"`)
      return reply.rows.map((row) => Object.fromEntries(reply.columns.map((name, at) => [name, row[at]])))
    }
    const earlier = (await ask('figures', 3)).filter((row) => row.earlier !== null)
    expect(earlier.map((row) => [row.line_item, row.fiscal_year, row.currency]).sort()).toEqual([
      ['EPS', 2020, 'USD'],
      ['NetSales', 2020, 'USD'],
      ['NetSales', 2021, 'USD'],
      ['PE', 2020, null],
    ])
    const restated = (await ask('changes', 3)).filter(({ kind }) => kind === 'restated')
    expect(restated.map((row) => [row.old_value, row.new_value, row.currency]).sort()).toEqual([
      ['0.5', '1.0', 'EUR to USD'],
      ['11.0', '12.0', null],
      ['90000.0', '180000.0', 'EUR to USD'],
      ['99000.0', '198000.0', 'EUR to USD'],
    ])
    expect((await ask('figures', 2)).filter((row) => row.earlier !== null)).toEqual([])
  } finally {
    await explorer.close()
  }
})

test('records are restored equal, with the currency of a company that has no money', async () => {
  const restored = await Array.fromAsync(records({ lake, content: 'companies' }))
  expect(restored.map((one) => (typeof one === 'string' ? JSON.parse(one) : one))).toEqual(SECOND)
})

/** Notes name what a statement adds that does not add up, and names that do not occur; where all is well there is none. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { openQuery } from '../../../src/jobs/query.ts'
import type { LakeQuery } from '../../../src/lake/query/lake-query.ts'
import { fromRecords } from '../../../src/source/from-records.ts'

const company = (
  InternalId: number,
  CountryCode: string,
  CurrentCurrencyCode: string,
  more: object,
): object => ({
  BasicDetails: { InternalId, CompanyName: `Company ${InternalId}`, CountryCode },
  MetaData: { CurrentCurrencyCode, FinancialFigureScale: 'None' },
  ...more,
})
const statement = (sales: object, lengths: object = {}): object => ({
  ProfitAndLoss: { NetSales: sales },
  BalanceSheet: { TotalAssets: { 2023: 5 } },
  OtherFinancialItems: { FiscalYearLength: lengths },
})

/** 1 reports twice; 2 in another currency; 3 had a long year. */
const COMPANIES = [
  company(1, 'SE', 'SEK', {
    Financials: statement({ 2022: 1, 2023: 2 }),
    UnconsolidatedFinancials: statement({ 2023: 1 }),
  }),
  company(2, 'NO', 'NOK', { Financials: statement({ 2023: 4 }) }),
  company(3, 'FI', 'EUR', { Financials: statement({ 2022: 1, 2023: 2 }, { 2022: 18, 2023: 12 }) }),
]

let folder: string
let lake: LakeQuery
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  await convert({ from: [fromRecords('crm', COMPANIES)], lake: join(folder, 'lake') })
  lake = await openQuery({ lake: join(folder, 'lake') })
})
afterAll(async () => {
  lake.close()
  await rm(folder, { recursive: true, force: true })
})

/** With time enough for any machine. */
const notes = (sql: string): Promise<readonly string[]> => lake.notes(sql, 300_000)
const SALES = "line_item = 'NetSales'"
const ADVICE = "figures_in('EUR') has one figure a company"

test.each([
  [
    `SELECT sum(value) FROM financials WHERE ${SALES} AND fiscal_year = 2023`,
    `adds 3 currencies and both consolidations; ${ADVICE}`,
  ],
  [
    `SELECT sum(value) FROM financials WHERE ${SALES}`,
    `adds 3 currencies, both consolidations and years of 2 lengths; ${ADVICE}`,
  ],
  [
    `SELECT sum(value) / 1e6 FROM financials_in('EUR') WHERE ${SALES} AND fiscal_year = 2023`,
    `adds both consolidations; ${ADVICE}`,
  ],
  [
    `SELECT median(f.value) FROM figures AS f JOIN companies USING (internal_id) WHERE f.${SALES} AND fiscal_year BETWEEN 2023 AND 2024`,
    `averages 3 currencies; ${ADVICE}`,
  ],
  [
    `WITH sales AS (FROM figures WHERE ${SALES} AND fiscal_year = 2023) SELECT country_code, sum(value) FROM sales GROUP BY ALL`,
    `adds 3 currencies; ${ADVICE}`,
  ],
  [
    `SELECT avg(value) OVER () FROM (SELECT * FROM latest_figures WHERE ${SALES})`,
    `averages 3 currencies; ${ADVICE}`,
  ],
  [
    `SELECT sum(value) FROM figures_in('EUR') WHERE ${SALES}`,
    'adds years of 2 lengths; months has the length of each',
  ],
  [
    'SELECT owned_id, sum(stake) FROM owners_current GROUP BY owned_id',
    'adds stakes of several kinds; owner_holdings has one row an owner and company',
  ],
  ["FROM figures WHERE line_item = 'netsales'", "no line item is named 'netsales'; NetSales"],
  ["FROM growth('NetSale')", "no line item is named 'NetSale'; NetSales"],
  ["SELECT value FROM financials WHERE country_code IN ('SE', 'se')", "no figure has the country 'se'; SE"],
  ["SELECT value FROM financials WHERE currency = 'USD'", "no figure has the currency 'USD'"],
  [
    "SELECT value FROM financials WHERE consolidation = 'consolidated'",
    "no consolidation is named 'consolidated'; Consolidated",
  ],
])('%s', async (sql, note) => {
  expect(await notes(sql)).toEqual([note])
})

test.each([
  `SELECT sum(value) FROM figures_in('EUR') WHERE ${SALES} AND fiscal_year = 2023`,
  `SELECT currency, consolidation, months, sum(value) FROM financials WHERE ${SALES} GROUP BY ALL`,
  `SELECT currency, sum(value) FROM figures WHERE ${SALES} AND fiscal_year = 2023 GROUP BY 1`,
  `SELECT sum(value) FROM financials WHERE ${SALES} AND currency = 'SEK' AND is_preferred`,
  `SELECT sum(value) FROM financials WHERE ${SALES} AND internal_id = 2`,
  `SELECT sum(convert_currency(value, currency, fiscal_year, 'EUR')) FROM figures WHERE ${SALES} AND fiscal_year = 2023`,
  "SELECT sum(value) FROM figures_in('EUR') WHERE line_item = 'TotalAssets'",
  "SELECT sum(stake) FROM owners_current WHERE kind = 'Direct'",
  'SELECT max(value), count(value) FROM financials',
  'SELECT count(*) FROM companies',
])('no note: %s', async (sql) => {
  expect(await notes(sql)).toEqual([])
})

test('a scan for notes that would take too long gives the general sentence', async () => {
  const { notesOn } = await import('../../../src/lake/query/sum-notes.ts')
  const { Engine } = await import('../../../src/lake/duckdb/engine.ts')
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  const session = await engine.connect()
  const parsed = await session.parse('SELECT sum(value) FROM financials')
  if (parsed.kind !== 'selects') throw new Error('No tree')
  const interrupted = { rows: () => Promise.reject(new Error('INTERRUPT')), interrupt: () => undefined }
  const found = await notesOn(parsed.statements, new Set(['financials']), 0, {
    session: interrupted,
    read: async () => {},
  })
  engine.close()
  expect(found).toEqual([
    `may add several currencies, both consolidations and years of several lengths; ${ADVICE}`,
  ])
})

/** `rate_year` of figures in one currency: the fiscal year, the nearest year of the rates for one without any, NULL of what is not converted. */

import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { query } from '../../src/jobs/query.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const company = (InternalId: number, CurrentCurrencyCode: string): object => ({
  BasicDetails: { InternalId, CompanyName: `Company ${InternalId}`, CountryCode: 'SE' },
  MetaData: { CurrentCurrencyCode, FinancialFigureScale: 'None' },
  Financials: { ProfitAndLoss: { NetSales: { 1900: 3, 2020: 4, 2099: 5 } } },
})

test('rate_year says which year stands in', async () => {
  const lake = `${await temporaryFolder()}/lake`
  await convert({ from: fromRecords('crm', [company(1, 'SEK'), company(2, 'EUR')]), lake })
  const [years] = await query({
    lake,
    sql: "SELECT min(year) AS first, max(year) AS last FROM rates WHERE currency = 'SEK'",
  })
  const sql = `SELECT internal_id, fiscal_year, rate_year, reported_value::INT AS reported_value, reported_currency
FROM figures_in('EUR') ORDER BY internal_id, fiscal_year`
  expect((await query({ lake, sql })).map((row) => Object.values(row).map(String))).toEqual([
    ['1', '1900', String(years?.first), '3', 'SEK'],
    ['1', '2020', '2020', '4', 'SEK'],
    ['1', '2099', String(years?.last), '5', 'SEK'],
    ['2', '1900', 'null', '3', 'EUR'],
    ['2', '2020', 'null', '4', 'EUR'],
    ['2', '2099', 'null', '5', 'EUR'],
  ])
})

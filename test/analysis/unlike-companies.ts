/**
 * Random companies of several currencies, consolidations and lengths of years, some of which come again with other figures, and
 * the figures that their records say.
 */

import type { Company } from '../../src/contract/objects.ts'
import { seededRandom } from '../manifest/damage.ts'
import { SEED } from '../support/seed.ts'
import { figuresOf } from './expected.ts'

const next = seededRandom(SEED)
const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
export const YEARS = [2019, 2020, 2021, 2022, 2023]

const series = (share: number, value: () => number): Record<number, number> =>
  Object.fromEntries(YEARS.filter(() => next() < share).map((year) => [year, value()]))
const amount = (): number => (next() < 0.1 ? 0 : Math.round((next() - 0.2) * 1e6))

const statement = (): NonNullable<Company['Financials']> => ({
  ...(next() < 0.85 && { ProfitAndLoss: { NetSales: series(0.8, amount), EBIT: series(0.8, amount) } }),
  ...(next() < 0.5 && { BalanceSheet: { TotalAssets: series(0.6, amount) } }),
  KeyFinancialRatio: { EBITMargin: series(0.5, () => next()) },
  ...(next() < 0.5 && {
    OtherFinancialItems: { FiscalYearLength: series(0.5, () => pick([12, 12, 12, 18, 6])) },
  }),
})

const companyOf = (id: number): Company => ({
  BasicDetails: {
    ...{ InternalId: id, CompanyName: `Company ${id}`, CountryCode: pick(['SE', 'NO', 'FI']) },
    IndustryCode: {
      IndustryCodes: [{ Code: pick(['62.010', '46.1', '25']), Text: 'x', Type: 'Nace' }],
      WeightedGroupIndustryCodes: [],
    },
    HasReportedMissingUBO: false,
  },
  MetaData: {
    ...{
      CurrentCurrencyCode: pick(['SEK', 'EUR', 'NOK']),
      FinancialFigureScale: pick(['None', 'Thousands']),
    },
    ...(next() < 0.5 && { FiscalYearLength: pick([12, 18]) }),
    ...(next() < 0.5 && { LastFiscalYearEnd: `${pick(YEARS)}-12-31T00:00:00` }),
  },
  EnhancedDetails: {
    HasForeignUltimateParent: false,
    HasGroupStructure: false,
    ...(next() < 0.6 && { Employees: series(0.5, () => Math.floor(next() * 900)) }),
    ...(next() < 0.6 && { EmployeesUnconsolidated: series(0.5, () => Math.floor(next() * 900)) }),
  },
  ...(next() < 0.8 && { Financials: statement() }),
  ...(next() < 0.6 && { UnconsolidatedFinancials: statement() }),
})

/** What comes first. */
export const FIRST = Array.from({ length: 120 }, (_, at) => companyOf(at + 1))
/** Some of them, with other figures. */
export const AGAIN = FIRST.filter((_, at) => at % 3 === 0).map((_, at) => companyOf(3 * at + 1))
/** The record of each company that counts. */
export const CURRENT = [
  ...new Map([...FIRST, ...AGAIN].map((one) => [one.BasicDetails?.InternalId, one])).values(),
]
export const FIGURES = figuresOf(CURRENT)
export const COUNTED = FIGURES.filter(({ isPreferred }) => isPreferred)

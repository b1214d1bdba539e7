/** Generated companies and relations without faults, and some with one fault each. Knows no rule. */

import { emptyControl } from '../../data/control.ts'
import { linesOf } from '../../data/sample.ts'
import type { Company, RelationsCompany } from '../../src/contract/objects.ts'

const YEARS = [2019, 2020, 2021, 2022, 2023, 2024] as const
type Year = (typeof YEARS)[number]
type Series = Record<string, number>

/** What is reported: all years grow by a tenth, and current assets are four tenths of all. */
interface Sheet {
  readonly sales: Series
  readonly total: Series
  readonly current: Series
  readonly rest: Series
}

const series = (first: number): Series =>
  Object.fromEntries(YEARS.map((year, at) => [year, Math.round(first * 1.1 ** at)]))

const soundSheet = (): Sheet => {
  const [total, current] = [series(1_000_000), series(400_000)]
  const rest = Object.fromEntries(YEARS.map((year) => [year, Number(total[year]) - Number(current[year])]))
  return { sales: series(2_000_000), total, current, rest }
}

const companyOf = (id: number, sheet: Sheet, basic: object = {}, currency = 'SEK'): Company => ({
  BasicDetails: {
    ...{ InternalId: id, CompanyName: `Planted ${id}`, CountryCode: 'SE', OrgNo: `9${id}` },
    ...{ IndustryCode: {}, HasReportedMissingUBO: false },
    ...basic,
  },
  MetaData: { CurrentCurrencyCode: currency, FinancialFigureScale: 'None' },
  Financials: {
    ProfitAndLoss: { NetSales: sheet.sales },
    BalanceSheet: {
      TotalAssets: sheet.total,
      TotalCurrentAssets: sheet.current,
      TotalNonCurrentAssets: sheet.rest,
    },
  },
})

/** With one year of one series multiplied. */
const times = (name: keyof Sheet, year: Year, factor: number): Sheet => {
  const sheet = soundSheet()
  return { ...sheet, [name]: { ...sheet[name], [year]: Number(sheet[name][year]) * factor } }
}

const without = ({ sales, total, current, rest }: Sheet, year: Year): Sheet => {
  const left = (all: Series): Series =>
    Object.fromEntries(Object.entries(all).filter(([one]) => one !== String(year)))
  return { sales: left(sales), total: left(total), current: left(current), rest: left(rest) }
}

const ownedBy = (id: number, owners: Readonly<Record<number, number>>): RelationsCompany => ({
  InternalId: id,
  Name: `Planted ${id}`,
  Parents: Object.entries(owners).map(([owner, stake]) => ({
    ...{ InternalId: Number(owner), Name: `Owner ${owner}`, IsCompany: Number(owner) < 1000 },
    Ownerships: [{ OwnershipStake: stake }],
  })),
})

/** What a check finds of them: rule, severity, company, year, item, value and what is expected. */
export type Finding = readonly [string, string, number, number | null, string, number | null, number | null]

const sales = soundSheet().sales
const [sales2020 = 0, sales2021 = 0, sales2022 = 0] = [2020, 2021, 2022].map((year) => sales[year])
const between = (before: number, after: number): number => Math.sqrt(before * after)

/** One company a fault, and what is planted. Ids below 1000 are companies. */
export const PLANTED: readonly Company[] = [
  companyOf(1, soundSheet()),
  companyOf(2, times('sales', 2021, 1000)),
  companyOf(3, times('sales', 2021, 0.001)),
  companyOf(4, times('total', 2023, 0.5)),
  companyOf(5, times('total', 2022, 1.5)),
  companyOf(6, without(soundSheet(), 2021)),
  companyOf(7, soundSheet(), { OrgNo: '556012-5790' }),
  companyOf(8, soundSheet(), { OrgNo: '5560125790' }),
  // The same number in another country is another company.
  companyOf(9, soundSheet(), { OrgNo: '5560125790', CountryCode: 'NO' }),
  companyOf(10, soundSheet(), { RegistrationDate: '2999-01-01' }),
  companyOf(11, soundSheet()),
]
/** A later load: company 11 comes in another currency. */
export const LATER: readonly Company[] = [companyOf(11, soundSheet(), {}, 'EUR')]

export const PLANTED_RELATIONS: readonly RelationsCompany[] = [
  ownedBy(20, { 1001: 111 }),
  ownedBy(21, { 1001: 60, 1002: 51 }),
  ownedBy(22, { 1001: 60, 1002: 40.4 }),
  // A circle of majorities, and one of cross-holdings.
  ...[ownedBy(30, { 31: 60 }), ownedBy(31, { 32: 60 }), ownedBy(32, { 30: 60 })],
  ...[ownedBy(40, { 41: 60 }), ownedBy(41, { 40: 10 })],
]

export const FINDINGS: readonly Finding[] = [
  ['scale', 'error', 2, 2021, 'NetSales', sales2021 * 1000, between(sales2020, sales2022)],
  ['scale', 'error', 3, 2021, 'NetSales', sales2021 / 1000, between(sales2020, sales2022)],
  ['balance', 'error', 4, 2023, 'TotalAssets', 732_050, 1_464_100],
  ['balance', 'note', 5, 2022, 'TotalAssets', 1_996_500, 1_331_000],
  ['gaps', 'note', 6, 2021, 'Consolidated', 1, 0],
  ['duplicates', 'error', 7, null, '556012-5790', 2, 1],
  ['duplicates', 'error', 8, null, '5560125790', 2, 1],
  ['future', 'error', 10, 2999, 'registration_date', null, null],
  ['currency', 'note', 11, null, 'SEK to EUR', null, null],
  ['stakes', 'error', 20, null, 'Direct', 111, 100],
  ['stakes', 'error', 21, null, 'direct owners', 111, 100],
  ['cycles', 'error', 30, null, 'majority', 3, 0],
  ['cycles', 'note', 40, null, 'minority', 2, 0],
]

/** Companies of the generator that have no fault. */
export const soundRecords = (
  companies: number,
): { readonly companies: Company[]; readonly relations: RelationsCompany[] } => {
  const options = { companies, seed: 5, files: 1, small: false, awkward: 0, sound: true, content: [] }
  const read = <T>(content: 'companies' | 'relations'): T[] =>
    [...linesOf(content, options, emptyControl())].map((line): T => JSON.parse(line))
  return { companies: read('companies'), relations: read('relations') }
}

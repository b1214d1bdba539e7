/** A lake for the explorer: owners in circles, ranges, hostile names, protected persons, and a company that came again. */

import type { Area } from '../../../src/contract/authorization.ts'
import { convert } from '../../../src/jobs/convert/convert.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import { type AskExplorer, newExplorer } from '../../../src/server/explorer/explorer.ts'
import { indexFolder } from '../../../src/server/serving-index/build/build-index.ts'
import { currentIndex } from '../../../src/server/serving-index/build/current-index.ts'
import { attachSegments } from '../../../src/server/serving-index/segment-views.ts'
import { fromRecords } from '../../../src/source/from-records.ts'

export const IMAGE = '<img src=x onerror="document.title=1">'
export const BACKWARDS = 'ab\u202edcba\u2066 &amp; \'"'
export const LONG = `L${'o'.repeat(3998)}g`
/** Must stand in no answer. */
export const SECRETS = ['Hidden Protected Person', 'Hidden Elsewhere', '19700101-1234']

export const ALPHA = 101
export const BETA = 102
export const GAMMA = 103
export const NORSE = 104

const company = (
  InternalId: number,
  CompanyName: string,
  CountryCode: string,
  sales: Readonly<Record<string, number>>,
): object => ({
  BasicDetails: { InternalId, CompanyName, CountryCode, OrgNo: `55-${InternalId} 0`, OperationalStatus: 10 },
  EnhancedDetails: { Employees: { 2019: 4, 2021: 5 } },
  MetaData: { CurrentCurrencyCode: 'EUR', FinancialFigureScale: 'Thousands' },
  Financials: { ProfitAndLoss: { NetSales: sales, EBITDA: { 2021: 3 } } },
  UnconsolidatedFinancials: { ProfitAndLoss: { NetSales: { 2021: 7 } } },
})

const stake = (value: number): object => ({ OwnershipStake: value })

/** Alpha is owned by Beta and a protected person, Beta by Gamma, Gamma by Alpha: a circle. Alpha owns Norse, in Norway. */
const relations = [
  {
    ...{ InternalId: ALPHA, Name: 'Alpha', CountryCode: 'SE' },
    Parents: [
      { InternalId: BETA, Name: IMAGE, IsCompany: true, Ownerships: [stake(60)] },
      {
        ...{ InternalId: 900, Name: SECRETS[0], IsCompany: false, IsProtected: true },
        ...{
          NationalIdentificationNumber: SECRETS[2],
          Ownerships: [{ MinOwnershipStake: 25, MaxOwnershipStake: 50 }],
        },
      },
      // Protected in the record of another company alone.
      { InternalId: 901, Name: SECRETS[1], IsCompany: false, Ownerships: [{}] },
    ],
    Children: [{ InternalId: NORSE, Name: 'Norse', IsCompany: true, Ownerships: [stake(100)] }],
  },
  {
    ...{ InternalId: BETA, Name: IMAGE, CountryCode: 'SE' },
    Parents: [{ InternalId: GAMMA, Name: BACKWARDS, IsCompany: true, Ownerships: [stake(51)] }],
  },
  {
    ...{ InternalId: GAMMA, Name: BACKWARDS, CountryCode: 'SE' },
    Parents: [{ InternalId: ALPHA, Name: 'Alpha', IsCompany: true, Ownerships: [stake(10)] }],
  },
  {
    ...{ InternalId: NORSE, Name: 'Norse', CountryCode: 'NO' },
    Parents: [
      { InternalId: 901, Name: SECRETS[1], IsCompany: false, IsProtected: true },
      { InternalId: 902, Name: 'Open Person', IsCompany: false, Ownerships: [stake(5)] },
    ],
  },
]

/** Alpha's sales of 2021 come again with another value. */
export const loadExplorerLake = async (lake: string): Promise<void> => {
  const companies = (alpha2021: number): object[] => [
    company(ALPHA, 'Alpha', 'SE', { 2018: 1, 2019: 2, 2021: alpha2021 }),
    company(BETA, IMAGE, 'SE', { 2021: 5 }),
    company(GAMMA, BACKWARDS, 'SE', { 2021: 6 }),
    company(NORSE, 'Norse Å', 'NO', { 2021: 8 }),
    company(105, LONG, 'SE', { 2021: 9 }),
  ]
  await convert({ from: [fromRecords('companies', companies(10))], lake })
  await convert({
    from: [fromRecords('again', companies(12).slice(0, 1)), fromRecords('relations', relations)],
    lake,
  })
}

export const EVERYTHING: Caller = { name: 'everything', rights: 'everything' }

/** A token for Sweden with some areas. */
export const swedish = (...areas: readonly Area[]): Caller => ({
  name: `swedish ${areas.join()}`,
  rights: { countries: new Map([['SE', new Set(areas)]]), withoutCountry: null },
})

/** Opens the explorer of a lake. @returns what asks it, and what closes it */
export const openExplorer = (
  lake: string,
  more: { readonly snapshot?: () => number; readonly timeoutMs?: number; readonly memoryBytes?: number } = {},
): { readonly ask: AskExplorer; readonly close: () => Promise<void> } => {
  const { snapshot = () => 2, timeoutMs = 60_000, memoryBytes = 128 * 1024 ** 2 } = more
  return newExplorer({ lake, served: snapshot, memoryBytes, timeoutMs })
}

/** Opens the explorer of a lake whose newest snapshot has a serving index, which is made where there is none. */
export const openBrowsing = async (
  lake: string,
  memoryBytes = 128 * 1024 ** 2,
): Promise<ReturnType<typeof openExplorer>> => {
  const index = await currentIndex({ lake, memoryBytes })
  const { snapshot, segments } = index.description
  await index.close()
  return newExplorer({
    ...{ lake, memoryBytes, timeoutMs: 60_000, served: () => snapshot },
    attachIndex: (session) => attachSegments(session, indexFolder(lake, snapshot), segments),
  })
}

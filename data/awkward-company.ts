/** What a loader must survive and yet is right by the contract: each oddity changes one company line. */

import type { MinifiedInfo } from '../src/contract/objects.ts'
import type { DraftCompany } from './company.ts'
import type { DraftSeries } from './figures.ts'
import { DEFAULT_MOMENT, momentStyle, momentText } from './moments.ts'
import type { Random } from './random.ts'
import { AWKWARD_STRINGS } from './words.ts'
import { WRITINGS } from './write-line.ts'

type Oddity = (company: DraftCompany, random: Random) => DraftCompany
type Profile = DraftCompany['profile']
type Basic = NonNullable<Profile['BasicDetails']>
type Enhanced = NonNullable<Profile['EnhancedDetails']>
type Meta = NonNullable<Profile['MetaData']>

const withBasic = (company: DraftCompany, change: (basic: Basic) => Basic): DraftCompany => {
  const { BasicDetails } = company.profile
  if (BasicDetails === undefined) return company
  return { ...company, profile: { ...company.profile, BasicDetails: change(BasicDetails) } }
}
const withEnhanced = (company: DraftCompany, change: (enhanced: Enhanced) => Enhanced): DraftCompany => {
  const { EnhancedDetails } = company.profile
  if (EnhancedDetails === undefined) return company
  return { ...company, profile: { ...company.profile, EnhancedDetails: change(EnhancedDetails) } }
}
const withMeta = (company: DraftCompany, change: (meta: Meta) => Meta): DraftCompany => {
  const { MetaData } = company.profile
  if (MetaData === undefined) return company
  return { ...company, profile: { ...company.profile, MetaData: change(MetaData) } }
}

/** Changes every figure; `at` counts the values of a series. */
const withFigures = (
  company: DraftCompany,
  change: (value: number, series: DraftSeries, at: number) => number | null,
): DraftCompany => ({
  ...company,
  figures: Object.fromEntries(
    Object.entries(company.figures).map(([consolidation, categories]) => [
      consolidation,
      categories.map(({ category, series }) => ({
        category,
        series: series.map((one) => ({
          ...one,
          values: one.values.map((value, at) => (value === null ? null : change(value, one, at))),
        })),
      })),
    ]),
  ),
})

const oddStrings: Oddity = (company, random) => {
  const odd = () => random.pick(AWKWARD_STRINGS)
  const basic = withBasic(company, (details) => ({
    ...details,
    CompanyName: odd(),
    Signatory: odd(),
    Description: { BusinessDescriptionENG: odd(), BusinessDescriptionOriginal: odd() },
    PreviousNames: [odd(), odd(), ''],
  }))
  return withEnhanced(basic, (details) => ({ ...details, Keywords: [odd(), odd()], WebsiteSummary: odd() }))
}

/** Zero is a figure, also in a series of nothing else. */
const zeroFigures: Oddity = (company, random) => {
  const zeros = withFigures(company, (value, _series, at) => (at === 0 || random.chance(0.3) ? 0 : value))
  return withEnhanced(zeros, (details) => ({ ...details, Employees: { 2023: 0, 2024: 0 } }))
}

/** 15 to 17 digits, as currency conversion makes them, and now and then the other sign. */
const longFigures: Oddity = (company, random) =>
  withFigures(company, (value) => (value * 1.0123456789 + 1 / 3) * (random.chance(0.2) ? -1 : 1))

/** Numbers that JSON writes with an exponent, and fractions that no scale divides evenly. */
const tinyFigures: Oddity = (company, random) =>
  withFigures(company, (value, { item }) => (item.scaled ? value + 0.1 : random.between(-1e-7, 1e-7)))

/** A year written as null is no figure. */
const nullFigures: Oddity = (company, random) =>
  withFigures(company, (value) => (random.chance(0.2) ? null : value))

const emptyLists: Oddity = (company) => {
  const basic = withBasic(company, (details) => ({
    ...details,
    AdditionalUrls: [],
    PreviousNames: [],
    IndustryCode: { IndustryCodes: [], WeightedGroupIndustryCodes: [] },
  }))
  const enhanced = withEnhanced(basic, (details) => ({ ...details, Keywords: [], AdditionalUrls: [] }))
  const profile = { ...enhanced.profile, LinkedIn: { Name: 'Lists only', Addresses: [], Keywords: [] } }
  return { ...enhanced, profile }
}

const defaultMoments: Oddity = (company) =>
  withMeta(company, (meta) => ({
    ...meta,
    LastReportQuarter: DEFAULT_MOMENT,
    FinancialsUpdatedAt: DEFAULT_MOMENT,
    ContentUpdatedAt: DEFAULT_MOMENT,
    GeneratedAt: DEFAULT_MOMENT,
  }))

/** Each date-time in a form of its own. */
const oddMoments: Oddity = (company, random) => {
  const moment = () =>
    momentText(random.between(Date.UTC(1985, 0, 1), Date.UTC(2025, 5, 30)), momentStyle(random), random)
  return withMeta(company, (meta) => ({
    ...meta,
    LastReportQuarter: moment(),
    BeneficialOwnerUpdatedAt: moment(),
    CompanyInfoUpdatedAt: moment(),
    SecondaryFinancialsUpdatedAt: moment(),
    KeyPeopleUpdatedAt: moment(),
    OwnersUpdatedAt: moment(),
    RelationsUpdatedAt: moment(),
  }))
}

/** Nothing but what is always there; so no MetaData and no figures. */
const bare: Oddity = (company) => {
  const basic = withBasic(company, ({ InternalId, HasReportedMissingUBO, IndustryCode }) => ({
    InternalId,
    HasReportedMissingUBO,
    IndustryCode,
  }))
  const { BasicDetails } = basic.profile
  return { ...company, profile: { ...(BasicDetails && { BasicDetails }) }, figures: {} }
}

const noCountry: Oddity = (company) => withBasic(company, ({ CountryCode: _country, ...details }) => details)

/** Empty objects and codes of 0 count as absent. */
const emptyObjects: Oddity = (company) => {
  const basic = withBasic(company, (details) => ({
    ...details,
    Address: {},
    Description: {},
    CompanyType: 0,
    OperationalStatus: 0,
    LegalForm: 0,
  }))
  const meta = withMeta(basic, (details) => ({ ...details, FiscalYearLength: 0 }))
  const enhanced = withEnhanced(meta, (details) => ({ ...details, Employees: {} }))
  return {
    ...enhanced,
    profile: { ...enhanced.profile, LinkedIn: {} },
    figures: { Consolidated: [], ...enhanced.figures },
  }
}

const minifiedInfo = ({ BasicDetails, MetaData }: Profile): MinifiedInfo => ({
  InternalId: BasicDetails?.InternalId ?? 0,
  OrgNo: BasicDetails?.OrgNo ?? '1',
  CompanyName: BasicDetails?.CompanyName ?? 'Minified',
  CountryCode: BasicDetails?.CountryCode ?? 'SE',
  OperationalStatus: BasicDetails?.OperationalStatus || 10,
  LastFiscalYearEnd: MetaData?.LastFiscalYearEnd ?? '2024-12-31T00:00:00',
  LocalCurrencyCode: MetaData?.LocalCurrencyCode ?? 'SEK',
  BeneficialOwnerUpdatedAt: '2025-01-01T00:00:00',
  CompanyInfoUpdatedAt: '2025-01-02T00:00:00Z',
  FinancialsUpdatedAt: '2025-01-03T00:00:00.1234567',
  KeyPeopleUpdatedAt: '2025-01-04T00:00:00+02:00',
  OwnersUpdatedAt: '2025-01-05T00:00:00',
  ContentUpdatedAt: '2025-01-06T00:00:00',
  RelationsUpdatedAt: '2025-01-07T00:00:00',
  UltimateParentOrgNo: '555000111',
  Url: 'https://minified.example',
})
/** Fields that a batch file does not need and a search may give. */
const searched: Oddity = (company, random) => ({
  ...company,
  profile: {
    ...company.profile,
    MinifiedInfo: minifiedInfo(company.profile),
    Score: random.between(0, 30),
  },
})

/** The same data in other JSON: explicit nulls, keys in another order, escaped letters. */
const oddWriting: Oddity = (company, random) => ({ ...company, writing: random.pick(WRITINGS) })

const ODDITIES: readonly Oddity[] = [
  oddStrings,
  zeroFigures,
  longFigures,
  tinyFigures,
  nullFigures,
  emptyLists,
  defaultMoments,
  oddMoments,
  oddWriting,
  bare,
  noCountry,
  emptyObjects,
  searched,
]

/** One to three oddities on top of each other. */
export const madeAwkward = (company: DraftCompany, random: Random): DraftCompany => {
  const chosen = random.some(ODDITIES, random.whole(1, 3))
  return oddWriting(
    chosen.reduce((changed, oddity) => oddity(changed, random), company),
    random,
  )
}

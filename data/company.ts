/** A well-behaved company line. What is odd about some is added in `awkward-company.ts`. */

import { type Consolidation, DICTIONARIES, type FigureScale } from '../src/contract/dictionaries.ts'
import type { Series, ShapeOf } from '../src/contract/fields.ts'
import type {
  BASIC_DETAILS,
  Company,
  ENHANCED_DETAILS,
  LINKED_IN,
  META_DATA,
} from '../src/contract/objects.ts'
import { type DraftCategory, financialsOf } from './figures.ts'
import { type Identity, identityOf } from './identity.ts'
import { dayText, type MomentStyle, momentStyle, momentText } from './moments.ts'
import { type Random, seededRandom } from './random.ts'
import { type FiscalYear, statementsOf } from './statements.ts'
import { CITIES, INDUSTRIES, KEYWORDS, ORIGINALS, SENTENCES, STREETS } from './words.ts'
import type { Writing } from './write-line.ts'

export interface CompanyOptions {
  readonly seed: number
  /** Lean lines of 1-3 KB instead of 10-12 KB. */
  readonly small: boolean
}

/** A company before it is written: figures as lists, all else as the contract has it. */
export interface DraftCompany {
  readonly profile: Omit<Company, 'Financials' | 'UnconsolidatedFinancials'>
  readonly figures: Readonly<Partial<Record<Consolidation, readonly DraftCategory[]>>>
  readonly writing: Writing
}

/** What the parts of one line draw on; `maybe` is always true for the lines that have every field. */
interface Draft {
  readonly random: Random
  readonly identity: Identity
  readonly small: boolean
  readonly full: boolean
  readonly turn: number
  readonly maybe: (share: number) => boolean
}

const { CompanyType, ListingType, IndustryItemType, FinancialFigureScale } = DICTIONARIES
const valueInTurn = <V>(values: readonly { readonly value: V }[], turn: number): V => {
  const found = values[turn % values.length]
  if (found === undefined) throw new RangeError('Cannot take a code in turn: the dictionary is empty')
  return found.value
}

/** Every so many lines one has every field, every line item and codes that come in turn. */
const FULL_EVERY = 20
const isFull = (index: number): boolean => index % FULL_EVERY === 3

const industryItem = (random: Random) => {
  const { code, text } = random.pick(INDUSTRIES)
  return { Code: code, Text: text, Type: String(valueInTurn(IndustryItemType.values, 0)) }
}
const industryItems = (random: Random, most: number) =>
  Array.from({ length: random.whole(0, most) }, () => industryItem(random))

const basicDetails = ({
  random,
  identity,
  small,
  full,
  turn,
  maybe,
}: Draft): ShapeOf<typeof BASIC_DETAILS> => ({
  InternalId: identity.id,
  CompanyName: identity.name,
  ...(maybe(0.98) && { OrgNo: identity.orgNo }),
  ...(identity.countryCode !== undefined && { CountryCode: identity.countryCode }),
  ...(maybe(0.7) && { CompanyType: Number(valueInTurn(CompanyType.values, turn)) }),
  OperationalStatus: identity.status,
  LegalForm: identity.legalForm,
  ...(maybe(0.5) && { ListingType: String(valueInTurn(ListingType.values, turn)) }),
  ...(maybe(0.85) && {
    Address: {
      ...(maybe(0.9) && { Street: `${random.pick(STREETS)} ${random.whole(1, 199)}` }),
      ...(maybe(0.9) && { Zipcode: String(random.whole(10_000, 99_999)) }),
      City: random.pick(CITIES),
      ...(maybe(0.4) && { County: `${random.pick(CITIES)} county` }),
      ...(maybe(0.4) && { Muncipality: random.pick(CITIES) }),
    },
  }),
  ...(maybe(small ? 0.2 : 0.7) && {
    Description: {
      ...(maybe(0.8) && { BusinessDescriptionENG: random.some(SENTENCES, small ? 1 : 4).join(' ') }),
      ...(maybe(0.5) && { BusinessDescriptionOriginal: random.some(ORIGINALS, small ? 1 : 3).join(' ') }),
    },
  }),
  IndustryCode: {
    IndustryCodes: full ? [industryItem(random)] : industryItems(random, small ? 1 : 3),
    WeightedGroupIndustryCodes: full ? [industryItem(random)] : industryItems(random, small ? 0 : 2),
  },
  ...(maybe(0.3) && { Email: `info@${identity.host}` }),
  ...(maybe(0.3) && { Phone: `+00 555 ${random.whole(10_000, 99_999)}` }),
  ...(maybe(0.4) && { URL: `https://www.${identity.host}` }),
  ...(maybe(0.1) && { AdditionalUrls: [`https://shop.${identity.host}`, `https://${identity.host}/jobs`] }),
  ...(maybe(0.3) && { VATNumber: `${identity.country.code}${identity.orgNo.replace('-', '')}` }),
  ...(maybe(0.8) && {
    RegistrationDate: dayText(Date.UTC(random.whole(1950, 2020), random.whole(0, 11), 9)),
  }),
  ...(maybe(small ? 0.1 : 0.4) && { Signatory: 'The board together; the chief executive alone up to 5 %.' }),
  ...(maybe(0.15) && { PreviousNames: [`${identity.name} (old)`, `First ${identity.name}`] }),
  HasReportedMissingUBO: random.chance(0.05),
})

const headcount = (years: readonly FiscalYear[]): Series =>
  Object.fromEntries(years.map(({ year, employees }) => [year, employees]))

const enhancedDetails = (
  { random, identity, small, maybe }: Draft,
  consolidated: readonly FiscalYear[],
  unconsolidated: readonly FiscalYear[],
): ShapeOf<typeof ENHANCED_DETAILS> => ({
  ...(consolidated.length > 0 && maybe(0.8) && { Employees: headcount(consolidated) }),
  ...(unconsolidated.length > 0 && maybe(0.6) && { EmployeesUnconsolidated: headcount(unconsolidated) }),
  HasForeignUltimateParent: random.chance(0.2),
  HasGroupStructure: random.chance(0.5),
  ...(maybe(small ? 0.2 : 0.5) && { Keywords: random.some(KEYWORDS, random.whole(1, small ? 3 : 8)) }),
  ...(maybe(0.05) && { PrivateEquityOwner: 'Ulmagard Partners Fund II' }),
  ...(maybe(small ? 0.05 : 0.4) && { WebsiteSummary: random.some(SENTENCES, 3).join(' ') }),
  ...(maybe(0.2) && { UltimateParentOrgNo: String(random.whole(1e8, 9e8)) }),
  ...(maybe(0.2) && { UltimateParentCompanyName: `${identity.name} Group` }),
  ...(maybe(0.2) && { URL: `https://${identity.host}` }),
  ...(maybe(0.1) && { AdditionalUrls: [`https://blog.${identity.host}`] }),
})

const linkedIn = ({ random, identity, maybe }: Draft): ShapeOf<typeof LINKED_IN> => ({
  Name: identity.name,
  ...(maybe(0.8) && { Description: random.some(SENTENCES, 2).join(' ') }),
  ...(maybe(0.8) && { Industry: random.pick(INDUSTRIES).text }),
  ...(maybe(0.5) && { Classification: 'Manufacturing', ClassificationCode: random.pick(INDUSTRIES).code }),
  ...(maybe(0.6) && { CompanyType: 'Privately held', CompanyFounded: String(random.whole(1900, 2020)) }),
  ...(maybe(0.6) && { CompanyWebsite: `https://www.${identity.host}` }),
  ...(maybe(0.6) && { Country: identity.country.code }),
  ...(maybe(0.4) && { Addresses: [`${random.pick(STREETS)} 1, ${random.pick(CITIES)}`] }),
  ...(maybe(0.6) && { NumberOfEmployees: random.whole(0, 900), SizeRange: '51-200' }),
  ...(maybe(0.6) && { Followers: random.whole(0, 20_000) }),
  ...(maybe(0.4) && { Keywords: random.some(KEYWORDS, 3) }),
  ...(maybe(0.8) && { SourceUrl: `https://profiles.example/${identity.id}` }),
})

const FIRST_UPDATE = Date.UTC(2023, 0, 1)
const LAST_UPDATE = Date.UTC(2025, 5, 30)

const metaData = (
  { random, identity, maybe }: Draft,
  currency: string,
  scale: FigureScale,
  lastYear: number | undefined,
): ShapeOf<typeof META_DATA> => {
  const style = momentStyle(random)
  const content = random.between(FIRST_UPDATE, LAST_UPDATE)
  const moment = (timeMs: number, as: MomentStyle = style) => momentText(timeMs, as, random)
  const earlier = () => moment(content - random.between(0, 200) * 86_400_000)
  return {
    ...(maybe(0.95) && { LocalCurrencyCode: identity.country.currency }),
    CurrentCurrencyCode: currency,
    FinancialFigureScale: scale,
    ...(maybe(0.8) && { FiscalYearLength: 12 }),
    ...(lastYear !== undefined && { LastFiscalYearEnd: moment(Date.UTC(lastYear, 11, 31), 'plain') }),
    ...(lastYear !== undefined &&
      maybe(0.1) && { LastReportQuarter: moment(Date.UTC(lastYear + 1, 2, 31), 'plain') }),
    ...(maybe(0.4) && { BeneficialOwnerUpdatedAt: earlier() }),
    ...(maybe(0.9) && { CompanyInfoUpdatedAt: earlier() }),
    ...(lastYear !== undefined && { FinancialsUpdatedAt: earlier() }),
    ...(maybe(0.1) && { SecondaryFinancialsUpdatedAt: earlier() }),
    ...(maybe(0.5) && { KeyPeopleUpdatedAt: earlier() }),
    ...(maybe(0.5) && { OwnersUpdatedAt: earlier() }),
    ...(maybe(0.99) && { ContentUpdatedAt: moment(content) }),
    ...(maybe(0.5) && { RelationsUpdatedAt: earlier() }),
    ...(maybe(0.6) && { GeneratedAt: '2025-06-01T00:00:00' }),
  }
}

/** How big companies are that report in a scale: mean and spread of log10 of net sales in dollars. */
const SIZE_OF_SCALE: Readonly<Record<FigureScale, readonly [mean: number, spread: number]>> = {
  None: [6, 0.6],
  'No scale': [6, 0.6],
  Thousands: [7, 0.6],
  Millions: [8.6, 0.5],
  Billions: [10, 0.4],
}
const SCALES = FinancialFigureScale.values.map(({ value }) => value as FigureScale)
const scaleOf = ({ random, full, turn }: Draft): FigureScale => {
  if (full)
    return valueInTurn(
      SCALES.map((value) => ({ value })),
      turn,
    )
  const draw = random.next()
  if (draw < 0.3) return 'None'
  if (draw < 0.4) return 'No scale'
  if (draw < 0.85) return 'Thousands'
  return draw < 0.98 ? 'Millions' : 'Billions'
}
const DIGITS_OF_SCALE: Readonly<Record<FigureScale, number>> = {
  None: 0,
  'No scale': 0,
  Thousands: 0,
  Millions: 1,
  Billions: 4,
}

const yearsOf = ({ random, small }: Draft): { firstYear: number; years: number } => {
  const lastYear = random.chance(0.7) ? 2024 : random.whole(2021, 2025)
  if (random.chance(0.01)) return { firstYear: 1985, years: lastYear - 1984 }
  const years = small ? random.whole(1, 4) : random.whole(4, 16)
  return { firstYear: lastYear - years + 1, years }
}

/** Which statements there are: both, consolidated only, unconsolidated only, or none. */
const statementsPresent = ({ random, full }: Draft): { consolidated: boolean; unconsolidated: boolean } => {
  const draw = full ? 0 : random.next()
  return { consolidated: draw < 0.72, unconsolidated: draw < 0.35 || (draw >= 0.72 && draw < 0.92) }
}

export const companyOf = (index: number, { seed, small }: CompanyOptions): DraftCompany => {
  const random = seededRandom(seed, 'company', index)
  const full = isFull(index)
  const draft: Draft = {
    random,
    small,
    full,
    identity: identityOf(seed, index),
    turn: full ? Math.floor(index / FULL_EVERY) : index,
    maybe: (share) => full || random.chance(share),
  }
  const { currency: local, perDollar, ebitdaShare } = draft.identity.country
  const inDollars = random.chance(0.8)
  const scale = scaleOf(draft)
  const present = statementsPresent(draft)
  const { firstYear, years } = yearsOf(draft)
  const [mean, spread] = SIZE_OF_SCALE[scale]
  const rate = inDollars ? 1 : perDollar
  const business = { firstYear, years, sales: 10 ** random.around(mean, spread) * rate, perDollar: rate }
  const reporting = {
    scale,
    digits: random.chance(0.06) ? undefined : DIGITS_OF_SCALE[scale] + (random.chance(0.1) ? 2 : 0),
    ebitdaShare,
    coverage: full ? 1 : small ? random.between(0, 0.08) : random.between(0.12, 0.55),
  }
  const consolidated = present.consolidated ? statementsOf(random, business) : []
  const parentOnly = { ...business, sales: business.sales * random.between(0.3, 0.9) }
  const unconsolidated = present.unconsolidated ? statementsOf(random, parentOnly) : []
  const anyFigures = present.consolidated || present.unconsolidated
  return {
    profile: {
      BasicDetails: basicDetails(draft),
      EnhancedDetails: enhancedDetails(draft, consolidated, unconsolidated),
      MetaData: metaData(
        draft,
        inDollars ? 'USD' : local,
        scale,
        anyFigures ? firstYear + years - 1 : undefined,
      ),
      ...(draft.maybe(small ? 0.05 : 0.3) && { LinkedIn: linkedIn(draft) }),
    },
    figures: {
      ...(present.consolidated && { Consolidated: financialsOf(random, consolidated, reporting) }),
      ...(present.unconsolidated && { Unconsolidated: financialsOf(random, unconsolidated, reporting) }),
    },
    writing: 'plain',
  }
}

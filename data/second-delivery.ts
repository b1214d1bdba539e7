/**
 * A later delivery of the same companies: some are restated, report a further year, lose one, are renamed or dissolved, some
 * owners sold half of their shares, and the new companies are one group. Knows no company by itself.
 */

import { DICTIONARIES } from '../src/contract/dictionaries.ts'
import type { Relation } from '../src/contract/objects.ts'
import type { DraftCompany } from './company.ts'
import type { DraftCategory, DraftSeries } from './figures.ts'
import type { Identity } from './identity.ts'
import type { DraftRelation } from './relation.ts'
import type { DraftRelations } from './relations-company.ts'

/** Every so many companies one of each kind changes. */
const CHANGED_EVERY = 60
const RELATIONS_CHANGED_EVERY = 90
const DELIVERED = Date.UTC(2025, 6, 15, 6)
/** The last year that the delivery may report. */
const LAST_YEAR = 2025
const GROWTH = 1.04

type Figures = DraftCompany['figures']
type Change = (company: DraftCompany, turn: number) => DraftCompany | undefined

const eachSeries = (figures: Figures, change: (series: DraftSeries) => DraftSeries): Figures =>
  Object.fromEntries(
    Object.entries(figures).map(([name, categories]) => [
      name,
      categories.map(
        (one): DraftCategory => ({
          ...one,
          series: one.series.map(change).filter(({ years }) => years.length > 0),
        }),
      ),
    ]),
  )

const salesOf = ({ figures }: DraftCompany): DraftSeries | undefined =>
  figures.Consolidated?.flatMap(({ series }) => series).find(({ item }) => item.lineItem === 'NetSales')

const digitsOf = (value: number): number => String(value).split('.')[1]?.length ?? 0

/** A multiple with no more digits than the figure has. */
const times = (value: number | null, factor: number): number | null =>
  value === null ? null : Number((value * factor).toFixed(Math.min(digitsOf(value), 20)))

/** Restated figures as a share of the reported ones, in turn. */
const RESTATED = [1.1, 0.94, 1.03, 0.82, 1.06] as const

/** The sales of the last year are others than they were reported. */
const restated: Change = (company, turn) => {
  const sales = salesOf(company)
  const factor = RESTATED[turn % RESTATED.length]
  if (sales === undefined || factor === undefined) return undefined
  const change = (series: DraftSeries): DraftSeries =>
    series === sales
      ? { ...series, values: [...series.values.slice(0, -1), times(series.values.at(-1) ?? null, factor)] }
      : series
  return { ...company, figures: eachSeries(company.figures, change) }
}

/** A year behind the last one, a little above it. */
const withNextYear: Change = (company) => {
  const year = (salesOf(company)?.years.at(-1) ?? LAST_YEAR) + 1
  if (year > LAST_YEAR) return undefined
  const change = (series: DraftSeries): DraftSeries =>
    series.years.at(-1) === year - 1
      ? {
          ...series,
          years: [...series.years, year],
          values: [
            ...series.values,
            times(series.values.at(-1) ?? null, series.item.unit === 'amount' ? GROWTH : 1),
          ],
        }
      : series
  const { EnhancedDetails, MetaData } = company.profile
  const heads = EnhancedDetails?.Employees
  return {
    ...company,
    profile: {
      ...company.profile,
      ...(EnhancedDetails &&
        heads && {
          EnhancedDetails: {
            ...EnhancedDetails,
            Employees: { ...heads, [year]: heads[year - 1] ?? 0 },
          },
        }),
      ...(MetaData && { MetaData: { ...MetaData, LastFiscalYearEnd: `${year}-12-31T00:00:00` } }),
    },
    figures: eachSeries(company.figures, change),
  }
}

/** No figure of the year before the last one any more. */
const withoutYear: Change = (company) => {
  const years = salesOf(company)?.years ?? []
  const withdrawn = years.at(-2)
  if (withdrawn === undefined || years.length < 3) return undefined
  const change = (series: DraftSeries): DraftSeries => ({
    ...series,
    years: series.years.filter((year) => year !== withdrawn),
    values: series.values.filter((_, at) => series.years[at] !== withdrawn),
  })
  return { ...company, figures: eachSeries(company.figures, change) }
}

const withBasics = (
  company: DraftCompany,
  basics: Partial<NonNullable<DraftCompany['profile']['BasicDetails']>>,
): DraftCompany | undefined => {
  const { BasicDetails } = company.profile
  return (
    BasicDetails && {
      ...company,
      profile: { ...company.profile, BasicDetails: { ...BasicDetails, ...basics } },
    }
  )
}

const renamed: Change = (company) => {
  const name = String(company.profile.BasicDetails?.CompanyName)
  return withBasics(company, { CompanyName: `${name} Group`, PreviousNames: [name] })
}

const DISSOLVED = DICTIONARIES.OperationalStatus.values.find(({ name }) => name === 'Dissolved')?.value

const dissolved: Change = (company) => withBasics(company, { OperationalStatus: Number(DISSOLVED) })

/** By the number of a company within `CHANGED_EVERY`. */
const CHANGES: ReadonlyMap<number, Change> = new Map([
  [11, restated],
  [21, withNextYear],
  [31, withoutYear],
  [41, renamed],
  [51, dissolved],
])

/** When the delivery's record of a company last changed. */
const momentOf = (index: number): string => new Date(DELIVERED + index * 1000).toISOString().slice(0, 19)

/** A company's line as of the delivery. */
export const delivered = (company: DraftCompany, index: number): DraftCompany => {
  const { MetaData } = company.profile
  const ContentUpdatedAt = momentOf(index)
  return MetaData === undefined
    ? company
    : { ...company, profile: { ...company.profile, MetaData: { ...MetaData, ContentUpdatedAt } } }
}

/** A company that changed since the first delivery; `undefined` for all others. */
export const changedCompany = (company: DraftCompany, index: number): DraftCompany | undefined =>
  CHANGES.get(index % CHANGED_EVERY)?.(company, Math.floor(index / CHANGED_EVERY))

type Ownership = NonNullable<Relation['Ownerships']>[number]

const halved = (one: Ownership): Ownership => ({
  ...one,
  ...(typeof one.OwnershipStake === 'number' && { OwnershipStake: one.OwnershipStake / 2 }),
})

/** Relations of which the owners sold half; `undefined` for all others, and where nobody states a stake. */
export const changedRelations = (relations: DraftRelations, index: number): DraftRelations | undefined => {
  const { record } = relations
  const parents = record.Parents ?? []
  const stated = parents.some(({ Ownerships = [] }) => Ownerships.some((one) => one.OwnershipStake))
  if (index % RELATIONS_CHANGED_EVERY !== 12 || !stated) return undefined
  const sold = parents.map((one) => ({
    ...one,
    ...(one.Ownerships && { Ownerships: one.Ownerships.map(halved) }),
  }))
  return { ...relations, record: { ...record, Parents: sold } }
}

/** The relations of a company as of the delivery. */
export const deliveredRelations = ({ record, writing }: DraftRelations, index: number): DraftRelations => ({
  record: {
    ...record,
    ...(record.Parents && {
      Parents: record.Parents.map((one) => ({ ...one, UpdatedAt: momentOf(index) })),
    }),
  },
  writing,
})

/** A person of some relations who is on the board now and whose identity is not protected. */
export const boardMember = ({ record }: DraftRelations): DraftRelation | undefined =>
  record.Parents?.find(
    ({ IsCompany, IsProtected, KeyPersonRoles = [] }) =>
      IsCompany === false &&
      IsProtected !== true &&
      KeyPersonRoles.some(({ Category, OutDate }) => Category === 'Board' && !OutDate),
  )

/** The same relations with one more person on the board, who owns nothing of it. */
export const seated = (
  relations: DraftRelations,
  { Ownerships: _, ...person }: DraftRelation,
): DraftRelations => ({
  ...relations,
  record: { ...relations.record, Parents: [...(relations.record.Parents ?? []), person] },
})

/** The same relations with one owner of all shares in place of those who held some. */
export const ownedBy = (
  { id, name, orgNo }: Identity,
  { record, writing }: DraftRelations,
): DraftRelations => {
  const others = (record.Parents ?? []).map(({ Ownerships: _, ...one }) => one)
  const owner: DraftRelation = {
    ...{ InternalId: id, Name: name, OrgNo: orgNo, IsCompany: true },
    Ownerships: [{ OwnershipStake: 100 }],
  }
  return { record: { ...record, Parents: [owner, ...others] }, writing }
}

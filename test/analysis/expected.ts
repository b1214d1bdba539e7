/** Answers of the analysis layer computed from records in plain TypeScript, without SQL and without the lake. */

import { FIGURE_SCALE } from '../../src/contract/dictionaries.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import type { Company, Relation, RelationsCompany } from '../../src/contract/objects.ts'
import { builtInRates } from '../../src/lake/rates/lake-rates.ts'

export interface Figure {
  readonly id: number
  readonly country: string | null
  readonly consolidation: 'Consolidated' | 'Unconsolidated'
  readonly category: string
  readonly item: string
  readonly year: number
  readonly value: number
  readonly currency: string | null
  readonly months: number | null
  /** Whether it is of the one statement that counts for the company and year. */
  readonly isPreferred: boolean
}

const UNITS = new Map(LINE_ITEMS.map(({ lineItem, unit }) => [lineItem as string, unit]))
const scaleOf = (scale: string | null | undefined): number =>
  Object.entries(FIGURE_SCALE).find(([name]) => name === scale)?.[1] ?? 1

const STATEMENTS = [
  ['Consolidated', 'Financials'],
  ['Unconsolidated', 'UnconsolidatedFinancials'],
] as const

type Reported = Omit<Figure, 'months' | 'isPreferred'>

/** The figures of a record, with the scale applied to amounts; line items that are no money have no currency. */
const reportedBy = (company: Company): readonly Reported[] =>
  STATEMENTS.flatMap(([consolidation, field]) =>
    Object.entries(company[field] ?? {}).flatMap(([category, items]) =>
      Object.entries(items ?? {}).flatMap(([item, years]) =>
        Object.entries(years ?? {}).flatMap(([year, value]): Reported[] => {
          if (typeof value !== 'number') return []
          const unit = UNITS.get(item)
          const scale = unit === 'amount' ? scaleOf(company.MetaData?.FinancialFigureScale) : 1
          return [
            {
              id: Number(company.BasicDetails?.InternalId),
              country: company.BasicDetails?.CountryCode ?? null,
              ...{ consolidation, category, item, year: Number(year), value: value * scale },
              currency: company.MetaData?.CurrentCurrencyCode ?? null,
            },
          ]
        }),
      ),
    ),
  )

/** The consolidation that counts in a year, and how long the year was by the statement, the other one, and MetaData. */
const yearOf = ({ MetaData }: Company, all: readonly Reported[], year: number) => {
  const own = all.filter((one) => one.year === year)
  const isGroup = own.some(
    ({ consolidation, category }) =>
      consolidation === 'Consolidated' && ['ProfitAndLoss', 'BalanceSheet'].includes(category),
  )
  const hasOther = own.some(({ consolidation }) => consolidation === 'Unconsolidated')
  const lengthOf = (isOwn: (one: Reported) => boolean) =>
    own.find(
      (one) => one.item === 'FiscalYearLength' && Number.isInteger(one.value) && one.value > 0 && isOwn(one),
    )?.value
  const lastYear = MetaData?.LastFiscalYearEnd
    ? Number(MetaData.LastFiscalYearEnd.slice(0, 4))
    : Math.max(...all.map((one) => one.year))
  const ofLast = (year === lastYear && MetaData?.FiscalYearLength) || null
  return {
    preferred: isGroup || !hasOther ? 'Consolidated' : 'Unconsolidated',
    monthsOf: (consolidation: string): number | null =>
      lengthOf((one) => one.consolidation === consolidation) ?? lengthOf(() => true) ?? ofLast,
  }
}

/** Every reported figure, with what its statement says of it. */
export const figuresOf = (companies: readonly Company[]): Figure[] =>
  companies.flatMap((company) => {
    const reported = reportedBy(company)
    const years = new Map(
      [...new Set(reported.map(({ year }) => year))].map((year) => [year, yearOf(company, reported, year)]),
    )
    return reported.map((one) => ({
      ...one,
      months: years.get(one.year)?.monthsOf(one.consolidation) ?? null,
      isPreferred: years.get(one.year)?.preferred === one.consolidation,
    }))
  })

/** The figures of each company's latest preferred statement that has an income statement or a balance sheet, else of the latest one. */
export const latestOf = (figures: readonly Figure[]): Figure[] =>
  [...Map.groupBy(figures, ({ id }) => id).values()].flatMap((all) => {
    const own = all.filter(({ isPreferred }) => isPreferred)
    const primary = own.filter(({ category }) => ['ProfitAndLoss', 'BalanceSheet'].includes(category))
    const latest = Math.max(...(primary.length > 0 ? primary : own).map(({ year }) => year))
    return own.filter(({ year }) => year === latest)
  })

/** Why two figures do not compare; `undefined` where they do. */
export const whyNot = (one: Figure, other: Figure | undefined): string | undefined => {
  if (other === undefined) return 'consolidation differs'
  if (one.currency !== other.currency) return 'currency differs'
  return one.months !== null && other.months !== null && one.months !== other.months
    ? 'length differs'
    : undefined
}

/** Growth of the figures that count against the year before of the same consolidation, where the company has a figure then. */
export const growthOf = (
  figures: readonly Figure[],
  item: string,
): { id: number; year: number; growth: number | null; reason: string | null }[] => {
  const own = figures.filter((one) => one.item === item)
  return own.flatMap((one) => {
    const before = own.filter(({ id, year }) => id === one.id && year === one.year - 1)
    if (!one.isPreferred || before.length === 0) return []
    const other = before.find(({ consolidation }) => consolidation === one.consolidation)
    const reason = whyNot(one, other) ?? (other?.value === 0 ? 'previous value is 0' : null)
    const growth =
      reason !== null || other === undefined ? null : (one.value - other.value) / Math.abs(other.value)
    return [{ id: one.id, year: one.year, growth, reason }]
  })
}

export const missingYearsOf = (figures: readonly Figure[]): { id: number; year: number }[] =>
  [...Map.groupBy(figures, ({ id, consolidation }) => `${id} ${consolidation}`)].flatMap(([, own]) => {
    const years = new Set(own.map(({ year }) => year))
    const [first, last] = [Math.min(...years), Math.max(...years)]
    return Array.from({ length: last - first }, (_, at) => first + at)
      .filter((year) => !years.has(year))
      .map((year) => ({ id: own[0]?.id ?? 0, year }))
  })

const rates = builtInRates()
/** In another currency: amounts and per-share figures; `null` without a rate. */
export const valueIn = ({ item, value, currency, year }: Figure, target: string): number | null => {
  const unit = UNITS.get(item)
  if (unit !== 'amount' && unit !== 'per share') return value
  const factor = rates.factor(currency ?? '', target, year)
  return factor === undefined ? null : value * factor
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

export interface Holding {
  readonly owner: number
  readonly owned: number
  readonly min: number
  readonly most: number
}

interface Stated {
  readonly owner: number
  readonly owned: number
  readonly byOwned: boolean
  readonly shareClass: string
  readonly min: number | null
  readonly most: number | null
}

const statedBy = (record: RelationsCompany, relation: Relation, direction: 'parent' | 'child'): Stated[] => {
  const [own, other] = [Number(record.InternalId), Number(relation.InternalId)]
  return (relation.Ownerships ?? [])
    .filter(({ OutDate }) => OutDate === undefined || OutDate === null)
    .map((ownership) => ({
      owner: direction === 'parent' ? other : own,
      owned: direction === 'parent' ? own : other,
      byOwned: direction === 'parent',
      shareClass: ownership.ShareClass ?? '',
      min: ownership.OwnershipStake ?? ownership.MinOwnershipStake ?? null,
      most: ownership.OwnershipStake ?? ownership.MaxOwnershipStake ?? null,
    }))
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Direct holdings: the owned company's record first, share classes added up, at most 100 percent. */
export const holdingsOf = (records: readonly RelationsCompany[]): Holding[] => {
  const all = records.flatMap((record) => [
    ...(record.Parents ?? []).flatMap((one) => statedBy(record, one, 'parent')),
    ...(record.Children ?? []).flatMap((one) => statedBy(record, one, 'child')),
  ])
  const pairs = Map.groupBy(all, ({ owner, owned }) => `${owner} ${owned}`)
  return [...pairs.values()].flatMap((every) => {
    const byOwned = every.filter((one) => one.byOwned)
    const counted = byOwned.length > 0 ? byOwned : every
    const [first] = counted
    if (first === undefined) return []
    const stated = counted.filter(({ min, most }) => min !== null || most !== null)
    const classes = [...Map.groupBy(stated, ({ shareClass }) => shareClass).values()]
    const min = sumOf(classes.map((own) => Math.max(...own.map((one) => one.min ?? 0))))
    const most = sumOf(classes.map((own) => Math.max(...own.map((one) => one.most ?? 100))))
    return [
      {
        owner: first.owner,
        owned: first.owned,
        min: Math.min(100, min),
        most: classes.length === 0 ? 100 : Math.min(100, most),
      },
    ]
  })
}

export interface Path {
  readonly owner: number
  readonly level: number
  readonly min: number
  readonly most: number
  readonly path: readonly number[]
  readonly isCycle: boolean
  /** Whether no further owner stands above who is not in the path. */
  readonly isTop: boolean
}

/** Every path up from a company; one that comes back to itself ends there. */
export const chainOf = (holdings: readonly Holding[], id: number, depth: number): Path[] => {
  const above = Map.groupBy(holdings, ({ owned }) => owned)
  const climb = (owned: number, min: number, most: number, path: readonly number[]): Path[] =>
    path.length > depth
      ? []
      : (above.get(owned) ?? []).flatMap((one) => {
          const next = [...path, one.owner]
          const isCycle = path.includes(one.owner)
          const isTop = !isCycle && (above.get(one.owner) ?? []).every(({ owner }) => next.includes(owner))
          const own: Path = {
            owner: one.owner,
            level: path.length,
            min: (min * one.min) / 100,
            most: (most * one.most) / 100,
            ...{ path: next, isCycle, isTop },
          }
          return isCycle ? [own] : [own, ...climb(one.owner, own.min, own.most, next)]
        })
  return climb(id, 100, 100, [id])
}

/** Owners at the top of paths, with their stakes over all of these. */
export const ultimateOf = (
  holdings: readonly Holding[],
  id: number,
): { owner: number; min: number; most: number }[] => {
  const paths = chainOf(holdings, id, 20).filter(({ isTop }) => isTop)
  return [...Map.groupBy(paths, ({ owner }) => owner)].map(([owner, own]) => ({
    owner,
    min: Math.min(100, sumOf(own.map(({ min }) => min))),
    most: Math.min(100, sumOf(own.map(({ most }) => most))),
  }))
}

/**
 * The group of a company by majorities that are certain, of companies alone: each with its level below the head. Of several
 * majorities of a company the greatest counts: by its least stake, then by its greatest one, then of the owner with the least id.
 */
export const groupOf = (
  holdings: readonly Holding[],
  isPerson: (id: number) => boolean,
  id: number,
): ReadonlyMap<number, number> => {
  const majorities = holdings
    .filter(({ owner, owned, min }) => min > 50 && owner !== owned && !isPerson(owner))
    .toSorted((a, b) => b.min - a.min || b.most - a.most || a.owner - b.owner)
  const ownerOf = (one: number): number | undefined => majorities.find(({ owned }) => owned === one)?.owner
  const climbed: number[] = []
  for (let one: number | undefined = id; one !== undefined && !climbed.includes(one); one = ownerOf(one))
    climbed.push(one)
  const last = climbed.at(-1) ?? id
  const back = ownerOf(last)
  const head = back === undefined ? last : Math.min(...climbed.slice(climbed.indexOf(back)))
  const levels = new Map([[head, 0]])
  // A map is walked with what is added to it meanwhile.
  for (const [at, level] of levels)
    for (const { owned } of majorities)
      if (ownerOf(owned) === at && !levels.has(owned)) levels.set(owned, level + 1)
  return levels
}

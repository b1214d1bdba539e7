/** A company's figures: in the order in which they are drawn and listed, what is worked out of them, and as texts. Pure. */

import { CONSOLIDATIONS } from '../../../contract/dictionaries.ts'
import type { ReportRow } from '../../../report/rows.ts'
import { scaleInWords } from '../../../report/shown.ts'

export interface EarlierFigure {
  readonly value: number
  readonly currency: string | null
  readonly until_snapshot: number
  /** When the snapshot was committed, ISO 8601. */
  readonly until: string
}

export interface Figure {
  readonly consolidation: string
  readonly category: string
  readonly lineItem: string
  /** Plain name of the line item. */
  readonly name: string
  readonly unit: string | null
  readonly year: number
  readonly value: number
  readonly currency: string | null
  /** Length of the fiscal year; `null` where nothing states it. */
  readonly months: number | null
  /** Whether it is of the statement that counts for the year. */
  readonly isPreferred: boolean
  readonly earlier: readonly EarlierFigure[]
}

const textOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value)

export const figureOf = (row: ReportRow): Figure => ({
  consolidation: String(row.consolidation),
  category: String(row.category),
  lineItem: String(row.line_item),
  name: String(row.name),
  unit: textOrNull(row.unit),
  year: Number(row.fiscal_year),
  value: Number(row.value),
  currency: textOrNull(row.currency),
  months: typeof row.months === 'number' ? row.months : null,
  isPreferred: row.is_preferred === true,
  earlier: Array.isArray(row.earlier) ? row.earlier : [],
})

/** Every year from the first to the last, those without a figure too: a gap is to be seen. At most the newest ones. */
export const yearsOf = (figures: readonly Figure[], most: number): readonly number[] => {
  const years = figures.map(({ year }) => year)
  if (years.length === 0) return []
  const last = Math.max(...years)
  const first = Math.max(Math.min(...years), last - most + 1)
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/** A small multiple of a company. */
export interface Multiple {
  /** Line items that it takes, the first that there is. */
  readonly items: readonly string[]
  /** The line item that it is a share of. */
  readonly of?: readonly [item: string, words: string]
}

const OF_SALES = ['NetSales', 'of net sales'] as const

/** The first four that have figures are shown. */
export const MULTIPLES: readonly Multiple[] = [
  { items: ['NetSales', 'TotalRevenue'] },
  { items: ['EBITDA', 'EBIT'], of: OF_SALES },
  { items: ['TotalEquity', 'ShareholderEquity'], of: ['TotalAssets', 'of total assets'] },
  { items: ['Employees'] },
  { items: ['NetProfit'], of: OF_SALES },
  { items: ['TotalAssets'] },
]

export const figuresOfFirst = (figures: readonly Figure[], items: readonly string[]): readonly Figure[] =>
  items.map((item) => figures.filter(({ lineItem }) => lineItem === item)).find((some) => some.length > 0) ??
  []

export const KINDS: readonly string[] = CONSOLIDATIONS.map(({ name }) => name)

/** The figure of the newest year: where there are both, that of the statement that counts. */
export const latestOf = (figures: readonly Figure[]): Figure | undefined =>
  figures.toSorted(
    (a, b) =>
      b.year - a.year ||
      Number(b.isPreferred) - Number(a.isPreferred) ||
      KINDS.indexOf(a.consolidation) - KINDS.indexOf(b.consolidation),
  )[0]

/** Figures of the same consolidation, currency and, where both are known, length of the year, which can be compared. */
const comparable = (
  figures: readonly Figure[],
  { consolidation, currency, months }: Figure,
): readonly Figure[] =>
  figures.filter(
    (one) =>
      one.consolidation === consolidation &&
      one.currency === currency &&
      (one.months === months || one.months === null || months === null),
  )

/** Growth by the rule of `growth`: against the year before. @returns a share; `undefined` without such a year, or a loss before */
export const growthOf = (figures: readonly Figure[], latest: Figure): number | undefined => {
  const before = comparable(figures, latest).find(({ year }) => year === latest.year - 1)
  return before === undefined || before.value <= 0 ? undefined : (latest.value - before.value) / before.value
}

const MOST_YEARS = 5
const MIN_YEARS = 2

/** Growth a year by the rule of `cagr`, over five years or the most that there are. @returns a share and the first year */
export const yearlyGrowthOf = (
  figures: readonly Figure[],
  latest: Figure,
): readonly [growth: number, since: number] | undefined => {
  const [first] = comparable(figures, latest)
    .filter(({ year }) => year >= latest.year - MOST_YEARS && year <= latest.year - MIN_YEARS)
    .toSorted((a, b) => a.year - b.year)
  if (first === undefined || first.value <= 0 || latest.value <= 0) return undefined
  return [(latest.value / first.value) ** (1 / (latest.year - first.year)) - 1, first.year]
}

/** The share of another line item of the same year, such as of net sales. */
export const shareOf = (figures: readonly Figure[], latest: Figure, item: string): number | undefined => {
  const whole = comparable(figures, latest).find(
    ({ lineItem, year }) => lineItem === item && year === latest.year,
  )
  return whole === undefined || whole.value <= 0 ? undefined : latest.value / whole.value
}

/** A statement: the lines of one category as one kind, in its order. */
export interface Statement {
  readonly consolidation: string
  readonly category: string
  /** With a figure, the newest first. */
  readonly years: readonly number[]
  readonly lines: readonly (readonly Figure[])[]
}

const MOST_COLUMNS = 40

/** @param figures in the order of their lines */
export const statementsOf = (figures: readonly Figure[]): readonly Statement[] =>
  [
    ...Map.groupBy(figures, ({ consolidation, category }) => `${consolidation}\0${category}`).values(),
  ].flatMap((own) => {
    const [first] = own
    if (first === undefined) return []
    const years = [...new Set(own.map(({ year }) => year))].sort((a, b) => b - a).slice(0, MOST_COLUMNS)
    const lines = [...Map.groupBy(own, ({ lineItem }) => lineItem).values()]
    return [{ consolidation: first.consolidation, category: first.category, years, lines }]
  })

export const isAmount = ({ unit }: Figure): boolean => unit === 'amount'

/** The factor and word in which all amounts of a company are listed: so that large ones have four digits at least. */
export const listedIn = (figures: readonly Figure[]): readonly [factor: number, word: string] =>
  scaleInWords(figures.filter(isAmount).reduce((max, { value }) => Math.max(max, Math.abs(value)), 0))

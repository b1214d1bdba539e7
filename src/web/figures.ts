/** A company's figures in the order in which they are drawn and listed. Pure. */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import type { AnswerRow } from './api.ts'

export interface EarlierFigure {
  readonly value: number
  readonly currency: string | null
  readonly until_snapshot: number
}

export interface Figure {
  readonly consolidation: string
  readonly category: string
  readonly lineItem: string
  readonly year: number
  readonly value: number
  readonly currency: string | null
  readonly earlier: readonly EarlierFigure[]
}

export const figureOf = (row: AnswerRow): Figure => ({
  consolidation: String(row.consolidation),
  category: String(row.category),
  lineItem: String(row.line_item),
  year: Number(row.fiscal_year),
  value: Number(row.value),
  currency: row.currency === null ? null : String(row.currency),
  earlier: Array.isArray(row.earlier) ? row.earlier : [],
})

/** Every year from the first to the last, those without a figure too: a gap is to be seen. At most the newest forty. */
export const yearsOf = (figures: readonly Figure[]): readonly number[] => {
  const years = figures.map(({ year }) => year)
  if (years.length === 0) return []
  const last = Math.max(...years)
  const first = Math.max(Math.min(...years), last - 39)
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/** The small multiples, each with the line items that it takes, the first that there is. */
export const MULTIPLES = [
  { title: 'Sales', items: ['NetSales', 'TotalRevenue'] },
  { title: 'EBITDA', items: ['EBITDA'] },
  { title: 'Equity', items: ['TotalEquity', 'ShareholderEquity'] },
  { title: 'Employees', items: ['Employees'] },
] as const

export const figuresOfFirst = (figures: readonly Figure[], items: readonly string[]): readonly Figure[] =>
  items.map((item) => figures.filter(({ lineItem }) => lineItem === item)).find((some) => some.length > 0) ??
  []

export const KINDS = CONSOLIDATIONS.map(({ name }) => name)

/** Figures as texts. */

/** Whole where it is large, with up to four digits behind the point where it is small. */
export const shownNumber = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 4 : 0 })

const SCALES = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
] as const

/** The factor and word for a series of figures, so that its labels are short. */
export const scaleFor = (values: readonly number[]): readonly [factor: number, word: string] => {
  const most = Math.max(0, ...values.map(Math.abs))
  return SCALES.find(([factor]) => most >= 10 * factor) ?? [1, '']
}

/** `25`, `25 to 50` percent, or that nothing is stated. */
export const shownStake = (least: number, greatest: number, isStated: boolean): string => {
  if (!isStated) return 'not stated'
  const percent = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 })
  return least === greatest ? `${percent(least)} %` : `${percent(least)} to ${percent(greatest)} %`
}

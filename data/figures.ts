/** From a business to the three levels of a company line: which items and years, scaled down and rounded. */

import { FIGURE_SCALE, type FigureScale } from '../src/contract/dictionaries.ts'
import {
  CATEGORIES,
  type Category,
  LINE_ITEMS,
  type LineItem,
  type LineItemName,
} from '../src/contract/line-items.ts'
import type { Random } from './random.ts'
import type { FiscalYear } from './statements.ts'

export interface Reporting {
  readonly scale: FigureScale
  /** Digits after the point of a reported amount; `undefined` keeps all, as after a currency conversion. */
  readonly digits: number | undefined
  /** Share of the line items reported besides the core ones; 1 is all. */
  readonly coverage: number
  /** Share of companies that report an EBITDA, which differs by country. */
  readonly ebitdaShare: number
}

const CORE_ITEMS: ReadonlySet<LineItemName> = new Set([
  'NetSales',
  'EBIT',
  'NetProfit',
  'TotalAssets',
  'TotalEquity',
])
const CORE_SHARE = 0.93
const shareOf = (item: LineItemName, { coverage, ebitdaShare }: Reporting): number => {
  if (item === 'EBITDA') return coverage === 1 ? 1 : ebitdaShare
  return CORE_ITEMS.has(item) ? Math.max(CORE_SHARE, coverage) : coverage
}
const MISSING_YEARS = 0.03

/** Invents the digits that a service gives for its units: four for ratios, two for money per share. */
const DIGITS_OF_UNIT = { ratio: 4, 'per share': 2 } as const

const rounded = (value: number, digits: number | undefined): number => {
  if (digits === undefined) return value
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}

/** A time series as two lists: objects with years for keys are several times slower to build and write. */
export interface DraftSeries {
  readonly item: LineItem
  readonly years: readonly number[]
  /** As reported; `null` stands for a year whose figure is written as null, which is no figure. */
  readonly values: readonly (number | null)[]
}
export interface DraftCategory {
  readonly category: Category
  readonly series: readonly DraftSeries[]
}

const seriesOf = (
  random: Random,
  fiscalYears: readonly FiscalYear[],
  item: LineItem,
  { scale, digits }: Reporting,
): DraftSeries => {
  const { lineItem, unit, scaled } = item
  const places = unit === 'ratio' || unit === 'per share' ? DIGITS_OF_UNIT[unit] : digits
  const factor = scaled ? FIGURE_SCALE[scale] : 1
  const years: number[] = []
  const values: number[] = []
  const gaps = random.chance(0.3)
  for (const { year, figures } of fiscalYears) {
    if (gaps && random.chance(MISSING_YEARS)) continue
    years.push(year)
    values.push(rounded(figures[lineItem] / factor, places))
  }
  return { item, years, values }
}

const ITEMS_OF = CATEGORIES.map((category) => ({
  category,
  items: LINE_ITEMS.filter((item) => item.category === category),
}))

/** A line item without a value in any year, and a category without an item, are left out. */
export const financialsOf = (
  random: Random,
  fiscalYears: readonly FiscalYear[],
  reporting: Reporting,
): readonly DraftCategory[] =>
  ITEMS_OF.map(({ category, items }) => ({
    category,
    series: items
      .filter(({ lineItem }) => random.chance(shareOf(lineItem, reporting)))
      .map((item) => seriesOf(random, fiscalYears, item, reporting))
      .filter(({ years }) => years.length > 0),
  })).filter(({ series }) => series.length > 0)

/** The three levels as JSON; all names in it are plain words. */
export const financialsText = (categories: readonly DraftCategory[]): string => {
  let text = '{'
  for (const { category, series } of categories) {
    text += `${text.length > 1 ? ',' : ''}"${category}":{`
    let first = true
    for (const { item, years, values } of series) {
      text += `${first ? '' : ','}"${item.lineItem}":{`
      first = false
      for (let at = 0; at < years.length; at++) {
        text += `${at === 0 ? '"' : ',"'}${years[at]}":${values[at]}`
      }
      text += '}'
    }
    text += '}'
  }
  return `${text}}`
}

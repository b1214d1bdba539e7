/**
 * The statements of a record, from its figures: which one of a fiscal year is preferred, and how many months the year has.
 * A statement is what a company reports for a year in one consolidation.
 */

import type { CheckedPart } from '../check/check-block.ts'
import { CATEGORIES, LINE_ITEMS, PRIMARY_CATEGORIES } from '../contract/line-items.ts'
import { META_DATA } from '../contract/objects.ts'
import { TextReader } from '../rows/cell-values.ts'
import type { UncommonValues } from '../rows/odd-values.ts'
import { FORM_BITS, ODD, PLACE_BITS, rowColumnOf, VALUE } from '../rows/row-columns.ts'
import type { SeriesRows } from '../rows/series-rows.ts'

const IS_PRIMARY = CATEGORIES.map((category) => PRIMARY_CATEGORIES.has(category))
const LENGTH_ITEM = LINE_ITEMS.findIndex(({ unit }) => unit === 'months')
const LENGTH_CATEGORY = CATEGORIES.findIndex((name) => name === LINE_ITEMS[LENGTH_ITEM]?.category)
const LENGTH_FIELD = rowColumnOf(META_DATA.fields.FiscalYearLength)
const LAST_END_FIELD = rowColumnOf(META_DATA.fields.LastFiscalYearEnd)

// By year, what the record has: statements of both consolidations (1, 2), figures that make the consolidated one count (4),
// headcounts of both consolidations (8, 16).
const BOTH = 3
const COUNTS = 4
const FIRST_HEADCOUNT = 8
const YEARS = 0x10000

/** Longer fiscal years are typing errors. */
const MOST_MONTHS = 120
const isMonths = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= MOST_MONTHS

const MICROS_PER_MS = 1000n

/** The statements of a part's records, one record after the other. */
export class StatementFacts {
  readonly #part: CheckedPart
  readonly #bytes: Buffer
  readonly #odd: UncommonValues | undefined
  readonly #has = new Uint8Array(YEARS)
  /** By consolidation and year, 0 where it is not stated. */
  readonly #months = [new Uint8Array(YEARS), new Uint8Array(YEARS)] as const
  readonly #years: number[] = []
  readonly #text = new TextReader()

  constructor(part: CheckedPart, bytes: Buffer, odd: UncommonValues | undefined) {
    this.#part = part
    this.#bytes = bytes
    this.#odd = odd
  }

  /** Reads the rows of a record, from `row` of its figures and from `headcount` of its headcounts. */
  read(record: number, row: number, headcount: number): void {
    for (const year of this.#years) {
      this.#has[year] = 0
      this.#months[0][year] = 0
      this.#months[1][year] = 0
    }
    this.#years.length = 0
    const { figures, headcounts, records } = this.#part.rows
    const { figuresEnd, headcountsEnd } = records.columns
    this.#readFigures(figures, row, figuresEnd[record]!)
    this.#readHeadcounts(headcounts, headcount, headcountsEnd[record]!)
    this.#readMetaData(record)
  }

  /** Whether the statement of a year is the preferred one. */
  isPreferred(statement: number, year: number): boolean {
    return this.#preferred(this.#has[year & 0xffff]!) === statement
  }

  /** Whether a year's headcount is the one of the preferred statement, or the only one of the year. */
  isPreferredHeadcount(statement: number, year: number): boolean {
    const has = this.#has[year & 0xffff]!
    const preferred = (has & BOTH) === 0 ? 0 : this.#preferred(has)
    return ((has & (FIRST_HEADCOUNT << preferred)) === 0 ? 1 - preferred : preferred) === statement
  }

  /** Months of a year of a statement, 0 where they are unknown. */
  monthsOf(statement: number, year: number): number {
    const at = year & 0xffff
    return this.#months[statement as 0 | 1][at]! || this.#months[(1 - statement) as 0 | 1][at]!
  }

  #preferred(has: number): number {
    return (has & COUNTS) !== 0 || (has & BOTH) === 1 ? 0 : 1
  }

  #add(year: number, what: number): void {
    const at = year & 0xffff
    if (this.#has[at] === 0) this.#years.push(at)
    this.#has[at]! |= what
  }

  #readFigures(rows: SeriesRows, first: number, last: number): void {
    const { year, value } = rows.figures.columns
    const { end, statement, category, lineItem } = rows.series.columns
    let row = first
    for (let at = rows.seriesOf(first); row < last; at++) {
      const [of, stop] = [statement[at]!, end[at]!]
      const counts = of === 0 && IS_PRIMARY[category[at]!] === true ? COUNTS : 0
      const isLength = lineItem[at] === LENGTH_ITEM && category[at] === LENGTH_CATEGORY
      for (; row < stop; row++) {
        this.#add(year[row]!, (1 << of) | counts)
        if (isLength && isMonths(value[row]!)) this.#months[of as 0 | 1][year[row]! & 0xffff] = value[row]!
      }
    }
  }

  #readHeadcounts(rows: SeriesRows, first: number, last: number): void {
    const { year } = rows.figures.columns
    const { end, statement } = rows.series.columns
    let row = first
    for (let at = rows.seriesOf(first); row < last; at++)
      for (; row < end[at]!; row++) this.#add(year[row]!, FIRST_HEADCOUNT << statement[at]!)
  }

  /** The length that MetaData states is that of the last fiscal year. */
  #readMetaData(record: number): void {
    const { rows, cells } = this.#part.rows.objects.records
    const { column, low, high } = cells.columns
    let [months, lastYear]: [number, number | undefined] = [0, undefined]
    for (let cell = rows.columns.first[record]!; cell < rows.columns.behind[record]!; cell++) {
      const [place, form] = [column[cell]! & PLACE_BITS, column[cell]! & FORM_BITS]
      if (place === LENGTH_FIELD && form === VALUE && high[cell] === 0) months = low[cell]!
      else if (place === LAST_END_FIELD && form === VALUE)
        lastYear = yearOf((BigInt(high[cell]! | 0) << 32n) + BigInt(low[cell]!))
      else if (place === LAST_END_FIELD && form === ODD) {
        this.#text.read(this.#bytes, low[cell]!, high[cell]!)
        lastYear = yearOf(this.#odd?.instants.get(this.#text.text())?.dayMicros)
      }
    }
    if (!isMonths(months) || this.#years.length === 0) return
    const year = lastYear ?? this.#lastYear()
    if (year === undefined || (this.#has[year & 0xffff]! & BOTH) === 0) return
    if (this.monthsOf(0, year) === 0) this.#months[0][year & 0xffff] = months
  }

  /** The last year of which there is a statement. */
  #lastYear(): number | undefined {
    const years = this.#years.filter((year) => (this.#has[year]! & BOTH) !== 0)
    return years.length === 0 ? undefined : Math.max(...years.map((year) => (year << 16) >> 16))
  }
}

const yearOf = (micros: bigint | undefined): number | undefined =>
  micros === undefined ? undefined : new Date(Number(micros / MICROS_PER_MS)).getUTCFullYear()

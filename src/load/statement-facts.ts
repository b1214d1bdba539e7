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
const LENGTH_CATEGORY = CATEGORIES.indexOf(LINE_ITEMS[LENGTH_ITEM]?.category ?? 'OtherFinancialItems')
const LENGTH_FIELD = rowColumnOf(META_DATA.fields.FiscalYearLength)
const LAST_END_FIELD = rowColumnOf(META_DATA.fields.LastFiscalYearEnd)

// Marks of a year say what the record has of it: statements of both consolidations (1, 2), figures that make the consolidated one count (4),
// headcounts of both consolidations (8, 16).
const BOTH = 3
const COUNTS = 4
const FIRST_HEADCOUNT = 8
const IS_PREFERRED = 1
const YEARS = 0x10000
const yearAt = (year: number): number => year & (YEARS - 1)

/** Longer fiscal years are typing errors. */
const MOST_MONTHS = 120
const isMonths = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= MOST_MONTHS

const MICROS_PER_MS = 1000n

/** The statements of a part's records, one record after the other. */
export class StatementFacts {
  readonly #part: CheckedPart
  readonly #bytes: Buffer
  readonly #odd: UncommonValues | undefined
  /** Marks of the years. */
  readonly #has = new Uint8Array(YEARS)
  /** Months of a statement's year, by consolidation and year; 0 where they are not stated. */
  readonly #months = [new Uint8Array(YEARS), new Uint8Array(YEARS)] as const
  /** Facts as `fill` gives them, by consolidation and year. A year that is not marked has one statement, which is preferred. */
  readonly #facts = [
    new Int16Array(YEARS).fill(IS_PREFERRED),
    new Int16Array(YEARS).fill(IS_PREFERRED),
  ] as const
  /** Years of which something is marked. */
  readonly #years: number[] = []
  /** The statements that the record has, of any year. */
  #statements = 0
  readonly #text = new TextReader()

  constructor(part: CheckedPart, bytes: Buffer, odd: UncommonValues | undefined) {
    this.#part = part
    this.#bytes = bytes
    this.#odd = odd
  }

  /** Reads a record for its figures, which begin at `row`. */
  readFigures(record: number, row: number): void {
    this.#forget()
    const { figures, records } = this.#part.rows
    const last = records.columns.figuresEnd[record]!
    const first = row === last ? 0 : figures.seriesOf(row)
    this.#readSeries(figures, first, row, last)
    // The only statement of a year is the preferred one.
    if (this.#statements === BOTH) this.#markFigures(figures, first, row, last)
    if (this.#statements !== 0) this.#readMetaData(record, figures, row, last)
    this.#setFacts((statement, at) => this.#ofFigure(statement, at))
  }

  /** Reads a record for its headcounts, which begin at `headcount`; its figures begin at `row`. */
  readHeadcounts(record: number, row: number, headcount: number): void {
    this.#forget()
    const { figures, headcounts, records } = this.#part.rows
    const { figuresEnd, headcountsEnd } = records.columns
    const [last, lastHeadcount] = [figuresEnd[record]!, headcountsEnd[record]!]
    if (headcount === lastHeadcount) return
    if (row < last) this.#markFigures(figures, figures.seriesOf(row), row, last)
    const { year } = headcounts.figures.columns
    const { end, statement } = headcounts.series.columns
    let at = headcount
    for (let series = headcounts.seriesOf(headcount); at < lastHeadcount; series++)
      for (; at < end[series]!; at++) this.#mark(year[at]!, FIRST_HEADCOUNT << statement[series]!)
    this.#setFacts((statement, year) => this.#ofHeadcount(statement, year))
  }

  /**
   * Gives what holds for figures of the record that was read last: 1 where one is of the preferred statement, or the headcount that
   * counts, and 2 times the months of its year where they are known.
   *
   * @param series that of the figure at `from`
   * @param at where the first one goes in `into`
   */
  fill(into: Int16Array, at: number, rows: SeriesRows, series: number, from: number, to: number): void {
    const { year } = rows.figures.columns
    const { end, statement } = rows.series.columns
    const shift = at - from
    let row = from
    for (let of = series; row < to; of++) {
      const facts = this.#facts[statement[of] === 0 ? 0 : 1]
      for (const stop = end[of]!; row < stop; row++) into[row + shift] = facts[yearAt(year[row]!)]!
    }
  }

  /** Sets the facts of each marked year, once all of a record is marked. */
  #setFacts(factsOf: (statement: number, at: number) => number): void {
    for (const at of this.#years) {
      this.#facts[0][at] = factsOf(0, at)
      this.#facts[1][at] = factsOf(1, at)
    }
  }

  #ofFigure(statement: number, at: number): number {
    const isPreferred = this.#statements !== BOTH || this.#preferred(this.#has[at]!) === statement
    const [own, other] = statement === 0 ? this.#months : [this.#months[1], this.#months[0]]
    return 2 * (own[at]! || other[at]!) + (isPreferred ? IS_PREFERRED : 0)
  }

  /** A year's headcount is that of the preferred statement, or the only one of the year. */
  #ofHeadcount(statement: number, at: number): number {
    const has = this.#has[at]!
    const preferred = (has & BOTH) === 0 ? 0 : this.#preferred(has)
    const counted = (has & (FIRST_HEADCOUNT << preferred)) === 0 ? 1 - preferred : preferred
    return counted === statement ? IS_PREFERRED : 0
  }

  #preferred(has: number): number {
    return (has & COUNTS) !== 0 || (has & BOTH) === 1 ? 0 : 1
  }

  #forget(): void {
    for (const at of this.#years) {
      this.#has[at] = 0
      this.#months[0][at] = 0
      this.#months[1][at] = 0
      this.#facts[0][at] = IS_PREFERRED
      this.#facts[1][at] = IS_PREFERRED
    }
    this.#years.length = 0
    this.#statements = 0
  }

  #mark(year: number, what: number): void {
    const at = yearAt(year)
    if (this.#has[at] === 0) this.#years.push(at)
    this.#has[at]! |= what
  }

  #setMonths(statement: number, year: number, months: number): void {
    const at = yearAt(year)
    this.#years.push(at)
    this.#months[statement === 0 ? 0 : 1][at] = months
  }

  /** Finds which statements there are, and how long their years are by themselves. */
  #readSeries(rows: SeriesRows, first: number, row: number, last: number): void {
    const { year, value } = rows.figures.columns
    const { end, statement, category, lineItem } = rows.series.columns
    let from = row
    for (let series = first; from < last; from = end[series++]!) {
      this.#statements |= 1 << statement[series]!
      if (lineItem[series] !== LENGTH_ITEM || category[series] !== LENGTH_CATEGORY) continue
      for (let at = from; at < end[series]!; at++)
        if (isMonths(value[at]!)) this.#setMonths(statement[series]!, year[at]!, value[at]!)
    }
  }

  #markFigures(rows: SeriesRows, first: number, row: number, last: number): void {
    const { year } = rows.figures.columns
    const { end, statement, category } = rows.series.columns
    let at = row
    for (let series = first; at < last; series++) {
      const of = statement[series]!
      const what = (1 << of) | (of === 0 && IS_PRIMARY[category[series]!] === true ? COUNTS : 0)
      for (const stop = end[series]!; at < stop; at++) this.#mark(year[at]!, what)
    }
  }

  /** The length that MetaData states is that of the last fiscal year. */
  #readMetaData(record: number, figures: SeriesRows, row: number, last: number): void {
    const { rows, cells } = this.#part.rows.objects.records
    const { column, low, high } = cells.columns
    let [months, lastYear]: [number, number | undefined] = [0, undefined]
    for (let cell = rows.columns.first[record]!; cell < rows.columns.behind[record]!; cell++) {
      const place = column[cell]! & PLACE_BITS
      if (place !== LENGTH_FIELD && place !== LAST_END_FIELD) continue
      const form = column[cell]! & FORM_BITS
      if (place === LENGTH_FIELD && form === VALUE && high[cell] === 0) months = low[cell]!
      else if (place === LAST_END_FIELD && form === VALUE)
        lastYear = yearOf((BigInt(high[cell]! | 0) << 32n) + BigInt(low[cell]!))
      else if (place === LAST_END_FIELD && form === ODD) {
        this.#text.read(this.#bytes, low[cell]!, high[cell]!)
        lastYear = yearOf(this.#odd?.instants.get(this.#text.text())?.dayMicros)
      }
    }
    if (!isMonths(months)) return
    const year = lastYear ?? figures.figures.columns.year.subarray(row, last).reduce((a, b) => Math.max(a, b))
    const at = yearAt(year)
    if (this.#months[0][at] === 0 && this.#months[1][at] === 0) this.#setMonths(0, year, months)
  }
}

const yearOf = (micros: bigint | undefined): number | undefined =>
  micros === undefined ? undefined : new Date(Number(micros / MICROS_PER_MS)).getUTCFullYear()

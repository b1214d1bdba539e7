/**
 * The figures of a block's time series in columns: a year and a number each, and of each series what all its rows share.
 * A record's rows are appended while it is checked, and taken back where it is refused.
 */

import { POWERS_OF_TEN } from './powers-of-ten.ts'
import { readDecimal } from './read-decimal.ts'
import { grown } from './shared-columns.ts'

/** A figure takes at least so many bytes of a line: `"2020":1,`. */
const LEAST_FIGURE_BYTES = 9
/** A series that has one: `"A":{"2020":1},`. */
const LEAST_SERIES_BYTES = 15
/** Of lines of companies on average: more than most have. */
const MEAN_FIGURE_BYTES = 18
const MEAN_SERIES_BYTES = 90
const FIRST_ROWS = 1024

/** Up to here whole numbers are doubles, whatever they were put together from. */
export const EXACT = 2 ** 53

/** In place of a figure's number of decimals: its text stands at the position given instead of its digits. */
export const AS_TEXT = -1

/** The columns as they pass between threads: their memory is shared. */
export type SeriesColumns = Pick<
  SeriesRows,
  | 'rows'
  | 'series'
  | 'kept'
  | 'year'
  | 'value'
  | 'end'
  | 'statement'
  | 'category'
  | 'lineItem'
  | 'keptRow'
  | 'keptFigure'
>

export class SeriesRows {
  rows = 0
  series = 0
  /** Figures that are kept beside their value. */
  kept = 0
  year = new Int16Array(0)
  /** A figure's digits as a whole number until its record ends, then its value. */
  value = new Float64Array(0)
  /** Decimals of the figures of the record at hand, or `AS_TEXT`; the first is that of row `#recordRows`. */
  decimals = new Int8Array(0)
  /** Of each series the row behind its last one, its statement, category and line item. */
  end = new Uint32Array(0)
  statement = new Uint8Array(0)
  category = new Int32Array(0)
  lineItem = new Int32Array(0)
  keptRow = new Uint32Array(0)
  keptFigure = new Float64Array(0)
  /** Where the record at hand begins. */
  recordRows = 0
  recordSeries = 0
  #recordKept = 0

  clear(): void {
    this.rows = 0
    this.series = 0
    this.kept = 0
  }

  /** Makes room for as many figures as a block of company lines may have. Memory that is not written to costs nothing. */
  reserve(sizeBytes: number): void {
    this.#reserve(Math.ceil(sizeBytes / MEAN_FIGURE_BYTES), Math.ceil(sizeBytes / MEAN_SERIES_BYTES))
  }

  #reserve(rows: number, series: number): void {
    if (rows > this.year.length) {
      this.year = grown(Int16Array, this.year, rows)
      this.value = grown(Float64Array, this.value, rows)
    }
    if (series > this.end.length) {
      this.end = grown(Uint32Array, this.end, series)
      this.statement = grown(Uint8Array, this.statement, series)
      this.category = grown(Int32Array, this.category, series)
      this.lineItem = grown(Int32Array, this.lineItem, series)
    }
  }

  columns(): SeriesColumns {
    const { rows, series, kept, year, value, end, statement, category, lineItem, keptRow, keptFigure } = this
    return { rows, series, kept, year, value, end, statement, category, lineItem, keptRow, keptFigure }
  }

  /** Takes columns of another thread in place of its own. */
  adopt(columns: SeriesColumns): void {
    Object.assign(this, columns)
  }

  /** Begins a record of `sizeBytes`: there is room for all figures that it may have. */
  startRecord(sizeBytes: number): void {
    this.recordRows = this.rows
    this.recordSeries = this.series
    this.#recordKept = this.kept
    const figures = Math.floor(sizeBytes / LEAST_FIGURE_BYTES) + 1
    if (this.decimals.length < figures) this.decimals = new Int8Array(Math.max(figures, FIRST_ROWS))
    const series = Math.floor(sizeBytes / LEAST_SERIES_BYTES) + 1
    if (this.rows + figures > this.year.length || this.series + series > this.end.length)
      this.#reserve(Math.max(this.rows + figures, FIRST_ROWS), Math.max(this.series + series, FIRST_ROWS))
  }

  /** Takes back the rows of the record at hand. */
  dropRecord(): void {
    this.rows = this.recordRows
    this.series = this.recordSeries
    this.kept = this.#recordKept
  }

  /** A figure whose text begins at `position` of the buffer. */
  addText(year: number, position: number): void {
    this.year[this.rows] = year
    this.value[this.rows] = position
    this.decimals[this.rows - this.recordRows] = AS_TEXT
    this.rows++
  }

  /** Ends a series of figures; one without any is none. */
  endSeries(statement: number, category: number, lineItem: number): void {
    const { series } = this
    const from = series === 0 ? 0 : this.end[series - 1]!
    if (this.rows === from) return
    this.end[series] = this.rows
    this.statement[series] = statement
    this.category[series] = category
    this.lineItem[series] = lineItem
    this.series++
  }

  /**
   * Ends the record: each figure gets its value, the double nearest to the exact product of its decimal and the scale.
   *
   * @param power of the record's scale: 0 to 9
   * @param scaledCategories by line item the category in which the scale applies to it
   * @returns the first row whose value is larger than any number, -1 where there is none
   */
  finishRecord(buffer: Buffer, power: number, scaledCategories: Int16Array): number {
    const { value, decimals, recordRows, category, lineItem } = this
    let row = recordRows
    for (let series = this.recordSeries; series < this.series; series++) {
      const end = this.end[series]!
      const shift = scaledCategories[lineItem[series]!] === category[series] ? power : 0
      if (shift > 0) {
        const overflow = this.#scale(buffer, row, end, shift)
        if (overflow >= 0) return overflow
        row = end
        continue
      }
      for (; row < end; row++) {
        const places = decimals[row - recordRows]!
        if (places > 0) value[row] = value[row]! / POWERS_OF_TEN[places]!
        else if (places === AS_TEXT) value[row] = readDecimal(buffer, value[row]!, 0)
      }
    }
    return -1
  }

  /** The series that a row belongs to. */
  seriesOf(row: number): number {
    let [low, high] = [0, this.series - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.end[middle]! > row) high = middle
      else low = middle + 1
    }
    return low
  }

  /**
   * Gives names that a set had no room for the codes of where they stand.
   * @param codeOf the code of a name by its place in the record
   */
  recode(column: Int32Array, codeOf: (index: number) => number): void {
    for (let series = this.recordSeries; series < this.series; series++)
      column[series] = codeOf(column[series]!)
  }

  #scale(buffer: Buffer, from: number, end: number, power: number): number {
    const { value, decimals, recordRows } = this
    const factor = POWERS_OF_TEN[power]!
    for (let row = from; row < end; row++) {
      const places = decimals[row - recordRows]!
      const digits = value[row]!
      let figure: number
      let scaled: number
      // Whole numbers and powers that are exact: each of these is rounded once.
      if (places > power) {
        figure = digits / POWERS_OF_TEN[places]!
        scaled = digits / POWERS_OF_TEN[places - power]!
      } else if (places === AS_TEXT) {
        figure = readDecimal(buffer, digits, 0)
        scaled = readDecimal(buffer, digits, power)
        if (!Number.isFinite(scaled)) return row
      } else {
        scaled = digits * POWERS_OF_TEN[power - places]!
        if (scaled < EXACT && scaled > -EXACT) {
          // Not rounded at all, so the scale takes it back to the figure.
          value[row] = scaled
          continue
        }
        figure = digits / POWERS_OF_TEN[places]!
      }
      value[row] = scaled
      if (scaled / factor !== figure) this.#keep(row, figure)
    }
    return -1
  }

  /** Keeps a figure that its value divided by the scale does not restore. */
  #keep(row: number, figure: number): void {
    const { kept } = this
    if (kept >= this.keptRow.length) {
      this.keptRow = grown(Uint32Array, this.keptRow, Math.max(kept + 1, FIRST_ROWS))
      this.keptFigure = grown(Float64Array, this.keptFigure, Math.max(kept + 1, FIRST_ROWS))
    }
    this.keptRow[kept] = row
    this.keptFigure[kept] = figure
    this.kept++
  }
}

/**
 * The figures of a block's time series in columns: a year and a number each, and of each series what all its rows share.
 * A record's rows are appended while it is checked, and taken back where it is refused.
 */

import { GrowingColumns } from './growing-columns.ts'
import { POWERS_OF_TEN, readDecimal } from './read-decimal.ts'

/** A figure takes at least so many bytes of a line: `"2020":1,`. */
const MIN_FIGURE_BYTES = 9
/** A series that has one: `"A":{"2020":1},`. */
const MIN_SERIES_BYTES = 15
/** Averages of lines of companies: more than most have. */
const MEAN_FIGURE_BYTES = 18
const MEAN_SERIES_BYTES = 90
const MIN_ROWS = 1024

/** Up to here whole numbers are doubles, whatever they were put together from. */
export const EXACT = 2 ** 53

/** In place of a figure's number of decimals: its text stands at the position given instead of its digits. */
export const AS_TEXT = -1

export class SeriesRows {
  /** A figure's value is its digits as a whole number until its record ends. */
  readonly figures = new GrowingColumns({ year: Int16Array, value: Float64Array }, MIN_ROWS)
  /** Decimals of the figures of the record at hand, or `AS_TEXT`. */
  decimals = new Int8Array(0)
  /** `end` is the figure behind a series' last one. */
  readonly series = new GrowingColumns(
    { end: Uint32Array, statement: Uint8Array, category: Int32Array, lineItem: Int32Array },
    MIN_ROWS,
  )
  /** Figures, by their row, that the value divided by the scale does not restore. */
  readonly kept = new GrowingColumns({ row: Uint32Array, figure: Float64Array }, MIN_ROWS)
  readonly tables = [this.figures, this.series, this.kept]

  /** Makes room for as many figures as a block of company lines may have. */
  reserve(sizeBytes: number): void {
    this.figures.reserve(Math.ceil(sizeBytes / MEAN_FIGURE_BYTES))
    this.series.reserve(Math.ceil(sizeBytes / MEAN_SERIES_BYTES))
  }

  /** Makes room for all figures that a record of `sizeBytes` may have. */
  reserveRecord(sizeBytes: number): void {
    const figures = Math.floor(sizeBytes / MIN_FIGURE_BYTES) + 1
    if (this.decimals.length < figures) this.decimals = new Int8Array(Math.max(figures, MIN_ROWS))
    this.figures.reserve(this.figures.length + figures)
    this.series.reserve(this.series.length + Math.floor(sizeBytes / MIN_SERIES_BYTES) + 1)
  }

  /** A figure whose text begins at `position` of the buffer. */
  addText(year: number, position: number): void {
    const { figures, decimals } = this
    const row = figures.startRow()
    figures.columns.year[row] = year
    figures.columns.value[row] = position
    decimals[row - figures.recordStart] = AS_TEXT
  }

  /** Ends a series of figures; one without any is none. */
  endSeries(statement: number, category: number, lineItem: number): void {
    const { columns, length } = this.series
    const from = length === 0 ? 0 : columns.end[length - 1]!
    if (this.figures.length === from) return
    const series = this.series.startRow()
    columns.end[series] = this.figures.length
    columns.statement[series] = statement
    columns.category[series] = category
    columns.lineItem[series] = lineItem
  }

  /**
   * Ends the record: each figure gets its value, the double nearest to the exact product of its decimal and the scale.
   *
   * @param power of the record's scale: 0 to 9
   * @param scaledCategories by line item the category in which the scale applies to it
   * @returns the first row whose value is larger than any number, -1 where there is none
   */
  finishRecord(buffer: Buffer, power: number, scaledCategories: Int16Array): number {
    const { decimals } = this
    const { columns, recordStart } = this.figures
    const { value } = columns
    const { end: ends, category, lineItem } = this.series.columns
    let row = recordStart
    for (let series = this.series.recordStart; series < this.series.length; series++) {
      const end = ends[series]!
      const shift = scaledCategories[lineItem[series]!] === category[series] ? power : 0
      if (shift > 0) {
        const overflow = this.#scale(buffer, row, end, shift)
        if (overflow >= 0) return overflow
        row = end
        continue
      }
      for (; row < end; row++) {
        const places = decimals[row - recordStart]!
        if (places > 0) value[row] = value[row]! / POWERS_OF_TEN[places]!
        else if (places === AS_TEXT) value[row] = readDecimal(buffer, value[row]!, 0)
      }
    }
    return -1
  }

  /** The series that a row belongs to. */
  seriesOf(row: number): number {
    const { columns, length } = this.series
    let [low, high] = [0, length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (columns.end[middle]! > row) high = middle
      else low = middle + 1
    }
    return low
  }

  /**
   * Gives names that a set had no room for the codes of where they stand.
   * @param codeOf the code of a name by its place in the record
   */
  recode(name: 'category' | 'lineItem', codeOf: (index: number) => number): void {
    const { columns, recordStart, length } = this.series
    for (let series = recordStart; series < length; series++)
      columns[name][series] = codeOf(columns[name][series]!)
  }

  #scale(buffer: Buffer, from: number, end: number, power: number): number {
    const { decimals } = this
    const { columns, recordStart } = this.figures
    const { value } = columns
    const factor = POWERS_OF_TEN[power]!
    for (let row = from; row < end; row++) {
      const places = decimals[row - recordStart]!
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
    const kept = this.kept.startRow()
    this.kept.columns.row[kept] = row
    this.kept.columns.figure[kept] = figure
  }
}

/**
 * The figures of a block's time series in columns: a year and a number each, and of each series what all its rows share.
 * A record's rows are appended when it ends, and taken back where it is refused all the same.
 */

import { grown } from './shared-columns.ts'

/** Of lines of companies on average: more than most have. */
const MEAN_FIGURE_BYTES = 18
const MEAN_SERIES_BYTES = 90
const FIRST_ROWS = 1024

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

/** The figures of a record: the columns of `SeriesRows`, with rows that are counted from the record's first. */
export type RecordFigureColumns = Omit<SeriesColumns, 'rows' | 'series' | 'kept'>

export class SeriesRows {
  rows = 0
  series = 0
  /** Figures that are kept beside their value. */
  kept = 0
  year = new Int16Array(0)
  value = new Float64Array(0)
  /** Of each series the row behind its last one, its statement, category and line item. */
  end = new Uint32Array(0)
  statement = new Uint8Array(0)
  category = new Int32Array(0)
  lineItem = new Int32Array(0)
  keptRow = new Uint32Array(0)
  keptFigure = new Float64Array(0)
  /** Where the record at hand begins. */
  #recordRows = 0
  #recordSeries = 0
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

  startRecord(): void {
    this.#recordRows = this.rows
    this.#recordSeries = this.series
    this.#recordKept = this.kept
  }

  /** Takes back the rows of the record at hand. */
  dropRecord(): void {
    this.rows = this.#recordRows
    this.series = this.#recordSeries
    this.kept = this.#recordKept
  }

  /** The first row of the record at hand. */
  get firstRow(): number {
    return this.#recordRows
  }

  /** Appends the figures of the record at hand. */
  append({
    year,
    value,
    end,
    statement,
    category,
    lineItem,
    keptRow,
    keptFigure,
  }: RecordFigureColumns): void {
    const { rows, series, kept } = this
    this.#reserve(Math.max(rows + year.length, FIRST_ROWS), Math.max(series + end.length, FIRST_ROWS))
    this.year.set(year, rows)
    this.value.set(value, rows)
    this.statement.set(statement, series)
    this.category.set(category, series)
    this.lineItem.set(lineItem, series)
    for (let at = 0; at < end.length; at++) this.end[series + at] = rows + end[at]!
    this.rows += year.length
    this.series += end.length
    if (keptRow.length === 0) return
    this.#reserveKept(Math.max(kept + keptRow.length, FIRST_ROWS))
    this.keptFigure.set(keptFigure, kept)
    for (let at = 0; at < keptRow.length; at++) this.keptRow[kept + at] = rows + keptRow[at]!
    this.kept += keptRow.length
  }

  #reserveKept(figures: number): void {
    if (figures <= this.keptRow.length) return
    this.keptRow = grown(Uint32Array, this.keptRow, figures)
    this.keptFigure = grown(Float64Array, this.keptFigure, figures)
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
    for (let series = this.#recordSeries; series < this.series; series++)
      column[series] = codeOf(column[series]!)
  }
}

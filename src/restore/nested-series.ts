import { setImmediate } from 'node:timers/promises'
import { GrowingColumns } from '../rows/growing-columns.ts'
import { CodedColumn, dictionaryLongs } from './parquet/column-reader.ts'
import { ParquetFile, type RowGroup } from './parquet/parquet-file.ts'

/**
 * Rows of yearly figures in columns, and which of them are each company's, series by series in the order in which they are nested.
 * The rows of a company mostly stand together and in order, as they were loaded: nothing is sorted then but its series.
 */

/** The series of one company: for each its number and its rows. They stand until the next company is asked for. */
export interface CompanySeries {
  readonly count: number
  /** Ascending: statement × items + the item's rank. */
  readonly numbers: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Per row; ascending within a series. */
  readonly years: Int16Array
  /** Per row, as in the lake: with the scale applied. */
  readonly values: Float64Array
  /** Per row, as reported. */
  readonly figures: Float64Array
}

/** Rows of one line item or headcount after the other: `figures` as reported, `values` with the scale applied. */
const yearColumns = () =>
  new GrowingColumns({ years: Int16Array, values: Float64Array, figures: Float64Array }, FIRST_ROWS)

/** Series by their numbers, with their rows. */
const seriesColumns = () => new GrowingColumns({ numbers: Int32Array, starts: Int32Array, ends: Int32Array })

const NONE = -1
const FIRST_ROWS = 1 << 16

/** Filled range by range, each of rows of one company, then asked company by company. */
export class NestedSeries {
  readonly #rows = yearColumns()
  /** The series as they came; their rows stand one behind the other. */
  readonly #all = seriesColumns()
  /** Ranges of one company: where its series begin, and the company's next range. */
  #begins: number[] = []
  #next: number[] = []
  #first = new Int32Array(0)
  #last = new Int32Array(0)
  /** Memory in which the rows of a company are put together. */
  readonly #joinedRows = yearColumns()
  readonly #series = seriesColumns()
  /** Per series, the place of its next row. */
  #places = new Int32Array(0)

  /** Begins anew, for so many companies. */
  start(companies: number): void {
    this.#rows.clear()
    this.#all.clear()
    this.#begins = []
    this.#next = []
    this.#first = new Int32Array(companies).fill(NONE)
    this.#last = new Int32Array(companies).fill(NONE)
  }

  /** Begins a range of a company's rows. @returns where in `columns` its rows are to be put */
  startRange(place: number, rows: number): number {
    this.#rows.reserve(this.#rows.length + rows)
    const range = this.#begins.length
    this.#begins.push(this.#all.length)
    this.#next.push(NONE)
    const last = this.#last[place] ?? NONE
    if (last === NONE) this.#first[place] = range
    else this.#next[last] = range
    this.#last[place] = range
    return this.#rows.length
  }

  /** The rows of all series, to be filled. */
  get columns() {
    return this.#rows.columns
  }

  /** Adds a series of the range, whose rows stand behind those of the series before. */
  addSeries(number: number, rows: number): void {
    const series = this.#all.startRow()
    const { numbers, starts, ends } = this.#all.columns
    if (number >= this.#places.length) this.#places = new Int32Array(2 * (number + 1))
    numbers[series] = number
    starts[series] = this.#rows.length
    this.#rows.length += rows
    ends[series] = this.#rows.length
  }

  /** Gives each series another number: by its number the new one. */
  renumber(newNumbers: Int32Array): void {
    const { numbers } = this.#all.columns
    if (newNumbers.length > this.#places.length) this.#places = new Int32Array(newNumbers.length)
    for (let at = 0; at < this.#all.length; at++) numbers[at] = newNumbers[numbers[at] ?? 0] ?? 0
  }

  /** The series of the company at a place. */
  of(place: number): CompanySeries {
    const count = this.#collect(place)
    const { numbers, starts, ends } = this.#series.columns
    for (let at = 1; at < count; at++) if (numbers[at] === numbers[at - 1]) return this.#joined(count)
    for (let at = 0; at < count; at++) sortYears(this.columns, starts[at] ?? 0, ends[at] ?? 0)
    return { count, numbers, starts, ends, ...this.columns }
  }

  /** Puts a company's series into the order of their numbers: counted, because there are few numbers. @returns how many they are */
  #collect(place: number): number {
    const count = this.#countNumbers(place)
    this.#series.reserve(count)
    const { numbers, starts, ends } = this.#all.columns
    const [series, places] = [this.#series.columns, this.#places]
    for (let range = this.#first[place] ?? NONE; range !== NONE; range = this.#next[range] ?? NONE) {
      const end = this.#begins[range + 1] ?? this.#all.length
      for (let at = this.#begins[range] ?? 0; at < end; at++) {
        const number = numbers[at] ?? 0
        const to = places[number] ?? 0
        places[number] = to + 1
        series.numbers[to] = number
        series.starts[to] = starts[at] ?? 0
        series.ends[to] = ends[at] ?? 0
      }
    }
    return count
  }

  /** Finds where the first series of each number is to be put. @returns how many series there are */
  #countNumbers(place: number): number {
    const { numbers } = this.#all.columns
    const places = this.#places.fill(0)
    for (let range = this.#first[place] ?? NONE; range !== NONE; range = this.#next[range] ?? NONE) {
      const end = this.#begins[range + 1] ?? this.#all.length
      for (let at = this.#begins[range] ?? 0; at < end; at++) {
        const number = numbers[at] ?? 0
        places[number] = (places[number] ?? 0) + 1
      }
    }
    let count = 0
    for (let number = 0; number < places.length; number++) {
      const ofNumber = places[number] ?? 0
      places[number] = count
      count += ofNumber
    }
    return count
  }

  /** The series of a company of which one stands in several parts: DuckDB's threads hand over their rows in turn. */
  #joined(count: number): CompanySeries {
    const { numbers, starts, ends } = this.#series.columns
    const joined = this.#joinedRows
    joined.clear()
    let found = 0
    for (let at = 0; at < count; at++) {
      const number = numbers[at] ?? 0
      const [from, to] = [starts[at] ?? 0, ends[at] ?? 0]
      const start = joined.length
      joined.length += to - from
      joined.reserve(joined.length)
      joined.columns.years.set(this.columns.years.subarray(from, to), start)
      joined.columns.values.set(this.columns.values.subarray(from, to), start)
      joined.columns.figures.set(this.columns.figures.subarray(from, to), start)
      if (found === 0 || numbers[found - 1] !== number) starts[found++] = start
      numbers[found - 1] = number
      ends[found - 1] = joined.length
    }
    for (let at = 0; at < found; at++) sortYears(joined.columns, starts[at] ?? 0, ends[at] ?? 0)
    return { count: found, numbers, starts, ends, ...joined.columns }
  }
}

type YearColumns = NestedSeries['columns']

const sortYears = (columns: YearColumns, start: number, end: number): void => {
  const { years } = columns
  for (let row = start + 1; row < end; row++)
    if ((years[row] ?? 0) < (years[row - 1] ?? 0)) moveBack(columns, row, start)
}

/** Moves a row to its place among those of its series before it, which ascend. */
const moveBack = (columns: YearColumns, row: number, start: number): void => {
  const { years } = columns
  const year = years[row] ?? 0
  let at = row
  while (at > start && (years[at - 1] ?? 0) > year) at--
  for (const column of Object.values(columns)) {
    const moved = column[row] ?? 0
    column.copyWithin(at + 1, at, row)
    column[at] = moved
  }
}

/** Receives the rows of companies that stand together in a file. */
interface RangeReader {
  /** Reads the columns of a row group that has rows of these companies. */
  readonly readGroup: (file: ParquetFile, group: RowGroup) => void
  /** Takes the rows of a company from `start` to before `end` of that row group. */
  readonly addRange: (place: number, start: number, end: number) => void
}

/** Finds the rows of a slice's companies in the lake's files of a table that is kept by company. */
export class CompanyRanges {
  readonly #ids = new CodedColumn('internal_id')

  /**
   * @param files in which rows of the companies may stand, beside those of others
   * @param places of the companies by their ids
   */
  async read(
    files: readonly string[],
    places: ReadonlyMap<bigint, number>,
    { readGroup, addRange }: RangeReader,
  ): Promise<void> {
    for (const path of places.size === 0 ? [] : files) {
      const file = new ParquetFile(path)
      try {
        for (const group of file.groups) {
          this.#ids.read(file, group)
          const placeOf = Int32Array.from(dictionaryLongs(this.#ids), (id) => places.get(id) ?? NONE)
          if (!placeOf.some((place) => place !== NONE)) continue
          readGroup(file, group)
          this.#eachRange(placeOf, group.rows, addRange)
          await setImmediate()
        }
      } finally {
        file.close()
      }
    }
  }

  #eachRange(placeOf: Int32Array, rows: number, addRange: RangeReader['addRange']): void {
    const { codes } = this.#ids
    for (let start = 0; start < rows; ) {
      const code = codes[start] ?? 0
      let end = start + 1
      while (end < rows && codes[end] === code) end++
      const place = placeOf[code] ?? NONE
      if (place !== NONE) addRange(place, start, end)
      start = end
    }
  }
}

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
  /** By row; ascending within a series. */
  readonly years: Int16Array
  /** By row, as in the lake: with the scale applied. */
  readonly values: Float64Array
  /** By row, as reported. */
  readonly figures: Float64Array
}

export interface YearColumns {
  readonly years: Int16Array
  readonly values: Float64Array
  readonly figures: Float64Array
}

interface SeriesArrays {
  readonly numbers: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

const columnsOf = (rows: number): YearColumns => ({
  years: new Int16Array(rows),
  values: new Float64Array(rows),
  figures: new Float64Array(rows),
})
const arraysOf = (count: number): SeriesArrays => ({
  numbers: new Int32Array(count),
  starts: new Int32Array(count),
  ends: new Int32Array(count),
})
const grownArrays = ({ numbers, starts, ends }: SeriesArrays): SeriesArrays => {
  const larger = arraysOf(2 * numbers.length)
  larger.numbers.set(numbers)
  larger.starts.set(starts)
  larger.ends.set(ends)
  return larger
}

const NONE = -1
const FIRST_ROWS = 1 << 16

/** Filled range by range, each of rows of one company, then asked company by company. */
export class NestedSeries {
  columns = columnsOf(FIRST_ROWS)
  #rows = 0
  /** All series as they came; their rows stand one behind the other. */
  #all = arraysOf(FIRST_ROWS)
  #count = 0
  /** Ranges of one company: where its series begin, and the company's next range. */
  #begins: number[] = []
  #next: number[] = []
  #first = new Int32Array(0)
  #last = new Int32Array(0)
  /** Where the rows of a company are put together. */
  #joinedColumns = columnsOf(0)
  #series = arraysOf(256)
  /** By a series' number where the next one of it is put. */
  #places = new Int32Array(0)

  /** Begins anew, for so many companies. */
  start(companies: number): void {
    this.#rows = 0
    this.#count = 0
    this.#begins = []
    this.#next = []
    this.#first = new Int32Array(companies).fill(NONE)
    this.#last = new Int32Array(companies).fill(NONE)
  }

  /** Begins a range of a company's rows. @returns where in `columns` its rows are to be put */
  startRange(place: number, rows: number): number {
    const needed = this.#rows + rows
    if (needed > this.columns.years.length) {
      const larger = columnsOf(2 * needed)
      larger.years.set(this.columns.years)
      larger.values.set(this.columns.values)
      larger.figures.set(this.columns.figures)
      this.columns = larger
    }
    const range = this.#begins.length
    this.#begins.push(this.#count)
    this.#next.push(NONE)
    const last = this.#last[place] ?? NONE
    if (last === NONE) this.#first[place] = range
    else this.#next[last] = range
    this.#last[place] = range
    return this.#rows
  }

  /** Adds a series of the range, whose rows stand behind those of the series before. */
  addSeries(number: number, rows: number): void {
    const count = this.#count++
    if (count === this.#all.numbers.length) this.#all = grownArrays(this.#all)
    if (number >= this.#places.length) this.#places = new Int32Array(2 * (number + 1))
    this.#all.numbers[count] = number
    this.#all.starts[count] = this.#rows
    this.#rows += rows
    this.#all.ends[count] = this.#rows
  }

  /** Gives each series another number: by its number the new one. */
  renumber(newNumbers: Int32Array): void {
    const { numbers } = this.#all
    if (newNumbers.length > this.#places.length) this.#places = new Int32Array(newNumbers.length)
    for (let at = 0; at < this.#count; at++) numbers[at] = newNumbers[numbers[at] ?? 0] ?? 0
  }

  /** The series of the company at a place. */
  of(place: number): CompanySeries {
    const count = this.#collect(place)
    const { numbers, starts, ends } = this.#series
    for (let at = 1; at < count; at++) if (numbers[at] === numbers[at - 1]) return this.#joined(count)
    for (let at = 0; at < count; at++) this.#sortYears(starts[at] ?? 0, ends[at] ?? 0)
    return { count, numbers, starts, ends, ...this.columns }
  }

  #sortYears(start: number, end: number): void {
    const { columns } = this
    const { years } = columns
    for (let row = start + 1; row < end; row++)
      if ((years[row] ?? 0) < (years[row - 1] ?? 0)) moveBack(columns, row, start)
  }

  /** Puts a company's series into the order of their numbers: counted, because there are few numbers. @returns how many they are */
  #collect(place: number): number {
    const count = this.#countNumbers(place)
    while (count > this.#series.numbers.length) this.#series = grownArrays(this.#series)
    const { numbers, starts, ends } = this.#all
    const [series, places] = [this.#series, this.#places]
    for (let range = this.#first[place] ?? NONE; range !== NONE; range = this.#next[range] ?? NONE) {
      const end = this.#begins[range + 1] ?? this.#count
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
    const { numbers } = this.#all
    const places = this.#places.fill(0)
    for (let range = this.#first[place] ?? NONE; range !== NONE; range = this.#next[range] ?? NONE) {
      const end = this.#begins[range + 1] ?? this.#count
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
    const { years, values, figures } = this.columns
    const { numbers, starts, ends } = this.#series
    let rows = 0
    for (let at = 0; at < count; at++) rows += (ends[at] ?? 0) - (starts[at] ?? 0)
    if (rows > this.#joinedColumns.years.length) this.#joinedColumns = columnsOf(2 * rows)
    const into = this.#joinedColumns
    let found = 0
    let to = 0
    for (let at = 0; at < count; at++) {
      const number = numbers[at] ?? 0
      const isNew = found === 0 || numbers[found - 1] !== number
      const start = isNew ? to : (starts[found - 1] ?? 0)
      const end = ends[at] ?? 0
      for (let row = starts[at] ?? 0; row < end; row++) {
        into.years[to] = years[row] ?? 0
        into.values[to] = values[row] ?? 0
        into.figures[to] = figures[row] ?? 0
        if (to > start && (into.years[to] ?? 0) < (into.years[to - 1] ?? 0)) moveBack(into, to, start)
        to++
      }
      if (isNew) found++
      numbers[found - 1] = number
      starts[found - 1] = start
      ends[found - 1] = to
    }
    return {
      count: found,
      numbers,
      starts,
      ends,
      years: into.years,
      values: into.values,
      figures: into.figures,
    }
  }
}

/** Moves a row to its place among those of its series before it, which ascend. */
const moveBack = ({ years, values, figures }: YearColumns, row: number, start: number): void => {
  const year = years[row] ?? 0
  const value = values[row] ?? 0
  const figure = figures[row] ?? 0
  let at = row
  for (; at > start && (years[at - 1] ?? 0) > year; at--) {
    years[at] = years[at - 1] ?? 0
    values[at] = values[at - 1] ?? 0
    figures[at] = figures[at - 1] ?? 0
  }
  years[at] = year
  values[at] = value
  figures[at] = figure
}

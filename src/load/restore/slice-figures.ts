/**
 * The figures of a slice in columns, and which of them are each company's, series by series in the order in which they are nested.
 * The rows of a company mostly stand together and in order, as they were loaded: nothing is sorted then but its series.
 */

import type { RawChunk, RawColumn } from '../../core/table-rows.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { dictionaryNames, type ItemNames, namesInSlice } from './item-names.ts'

/** The series of one company: for each its number among the names and its rows. They stand until the next company is asked for. */
export interface CompanySeries {
  readonly count: number
  /** Ascending. */
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

/** A company of the slice. */
export interface Owner {
  readonly id: bigint
  /** Of its scale. */
  readonly factor: number
}

interface Columns {
  numbers: Int32Array
  years: Int16Array
  values: Float64Array
  figures: Float64Array
}

interface SeriesArrays {
  readonly numbers: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

const columnsOf = (rows: number): Columns => ({
  numbers: new Int32Array(rows),
  years: new Int16Array(rows),
  values: new Float64Array(rows),
  figures: new Float64Array(rows),
})

const NONE = -1

/** Numbers of names: short where they come from a list. */
const namesOf = ({ data }: RawColumn, rows: number): Uint16Array | Int32Array =>
  data.byteLength === 2 * rows
    ? new Uint16Array(data.buffer, data.byteOffset, rows)
    : new Int32Array(data.buffer, data.byteOffset, rows)
const FIRST_ROWS = 1 << 16

/** Both words of the id of the row before, and the factor of its company. */
interface Reading {
  readonly high: number
  readonly low: number
  readonly factor: number
}

export class SliceFigures {
  #columns = columnsOf(FIRST_ROWS)
  #rows = 0
  /** Ranges of rows of one company: where each begins, and the company's next one. */
  #begins: number[] = []
  #next: number[] = []
  #first = new Int32Array(0)
  #last = new Int32Array(0)
  /** Where the rows of a company are put together. */
  #joinedColumns = columnsOf(0)
  #series: SeriesArrays = {
    numbers: new Int32Array(256),
    starts: new Int32Array(256),
    ends: new Int32Array(256),
  }
  #order = new Float64Array(256)
  #hasOthers = false

  /**
   * Reads the figures of the slice whose views stand in the session.
   *
   * @param hasOthers whether there are figures of companies that are no owners: they are left out
   * @returns their names
   */
  async read(session: Session, owners: readonly Owner[], hasOthers: boolean): Promise<ItemNames> {
    this.#hasOthers = hasOthers
    const listed = await dictionaryNames(session)
    if (listed !== null && (await this.#readWith(session, owners, listed))) return listed
    const found = await namesInSlice(session)
    await this.#readWith(session, owners, found)
    return found
  }

  /** @returns whether all figures have a name of these */
  async #readWith(session: Session, owners: readonly Owner[], names: ItemNames): Promise<boolean> {
    const places = new Map(owners.map(({ id }, place) => [id, place]))
    this.#rows = 0
    this.#begins = []
    this.#next = []
    this.#first = new Int32Array(owners.length).fill(NONE)
    this.#last = new Int32Array(owners.length).fill(NONE)
    const { chunks } = await session.rawChunks(names.figures)
    let reading: Reading = { high: 0, low: 0, factor: 1 }
    for await (const chunk of chunks) {
      // DuckDB gives no validity where no row is NULL.
      if (chunk.columns[2]?.validity !== undefined || chunk.columns[3]?.validity !== undefined) return false
      reading = this.#addChunk(chunk, reading, places, owners, names)
    }
    return true
  }

  /** @param reading the company of the row before */
  #addChunk(
    { rows, columns }: RawChunk,
    reading: Reading,
    places: ReadonlyMap<bigint, number>,
    owners: readonly Owner[],
    names: ItemNames,
  ): Reading {
    const [owner, unconsolidated, category, lineItem, year, value, reported] = columns
    if (!owner || !unconsolidated || !category || !lineItem || !year || !value || !reported)
      throw new TypeError('Cannot read figures: columns are missing')
    const words = new Int32Array(owner.data.buffer, owner.data.byteOffset, 2 * rows)
    const ids = new BigInt64Array(owner.data.buffer, owner.data.byteOffset, rows)
    const statements = unconsolidated.data
    const categories = namesOf(category, rows)
    const lineItems = namesOf(lineItem, rows)
    const values = new Float64Array(value.data.buffer, value.data.byteOffset, rows)
    const kept = new Float64Array(reported.data.buffer, reported.data.byteOffset, rows)
    const at = this.#rows
    this.#reserve(at + rows)
    const into = this.#columns
    into.values.set(values, at)
    into.years.set(new Int16Array(year.data.buffer, year.data.byteOffset, rows), at)
    const { figures, numbers } = into
    const { scaled, lineItems: perCategory } = names
    const pairs = scaled.length
    const { validity } = reported
    let { high, low, factor } = reading
    for (let row = 0; row < rows; row++) {
      if (words[2 * row] !== low || words[2 * row + 1] !== high || at + row === 0) {
        low = words[2 * row] ?? 0
        high = words[2 * row + 1] ?? 0
        const place = places.get(ids[row] ?? 0n)
        if (place === undefined && !this.#hasOthers)
          throw new RangeError('Cannot restore figures: their company is not in the slice')
        factor = owners[place ?? NONE]?.factor ?? 1
        this.#begin(place, at + row)
      }
      const item = (categories[row] ?? 0) * perCategory + (lineItems[row] ?? 0)
      const figure = values[row] ?? 0
      numbers[at + row] = (statements[row] ?? 0) * pairs + item
      if (validity !== undefined && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0)
        figures[at + row] = factor !== 1 && scaled[item] === 1 ? figure / factor : figure
      else figures[at + row] = kept[row] ?? 0
    }
    this.#rows = at + rows
    return { high, low, factor }
  }

  #reserve(rows: number): void {
    const { numbers, years, values, figures } = this.#columns
    if (rows <= numbers.length) return
    const larger = columnsOf(2 * rows)
    larger.numbers.set(numbers)
    larger.years.set(years)
    larger.values.set(values)
    larger.figures.set(figures)
    this.#columns = larger
  }

  /** @param place `undefined` for rows that no company of the slice has */
  #begin(place: number | undefined, row: number): void {
    const range = this.#begins.length
    this.#begins.push(row)
    this.#next.push(NONE)
    if (place === undefined) return
    const last = this.#last[place] ?? NONE
    if (last === NONE) this.#first[place] = range
    else this.#next[last] = range
    this.#last[place] = range
  }

  /** The series of the company at a place among the owners. */
  of(place: number): CompanySeries {
    const count = this.#collect(place)
    const { numbers, starts, ends } = this.#series
    for (let at = 1; at < count; at++)
      if ((numbers[at] ?? 0) <= (numbers[at - 1] ?? 0)) {
        this.#sortSeries(count)
        break
      }
    for (let at = 1; at < count; at++) if (numbers[at] === numbers[at - 1]) return this.#joined(count)
    const columns = this.#columns
    const { years, values, figures } = columns
    for (let at = 0; at < count; at++) {
      const start = starts[at] ?? 0
      const end = ends[at] ?? 0
      for (let row = start + 1; row < end; row++)
        if ((years[row] ?? 0) < (years[row - 1] ?? 0)) moveBack(columns, row, start)
    }
    return { count, numbers, starts, ends, years, values, figures }
  }

  /** Finds the series of a company as its rows stand. @returns their number */
  #collect(place: number): number {
    const { numbers } = this.#columns
    let count = 0
    for (let range = this.#first[place] ?? NONE; range !== NONE; range = this.#next[range] ?? NONE) {
      const end = this.#begins[range + 1] ?? this.#rows
      let row = this.#begins[range] ?? 0
      while (row < end) {
        const number = numbers[row] ?? 0
        let stop = row + 1
        while (stop < end && numbers[stop] === number) stop++
        if (count === this.#series.numbers.length) this.#growSeries()
        this.#series.numbers[count] = number
        this.#series.starts[count] = row
        this.#series.ends[count] = stop
        count++
        row = stop
      }
    }
    return count
  }

  #growSeries(): void {
    const grown = (array: Int32Array): Int32Array => {
      const larger = new Int32Array(2 * array.length)
      larger.set(array)
      return larger
    }
    const { numbers, starts, ends } = this.#series
    this.#series = { numbers: grown(numbers), starts: grown(starts), ends: grown(ends) }
  }

  /** Number and place in one double each: both are below 2^31 and 2^22, and doubles are sorted without a function. */
  #sortSeries(count: number): void {
    if (count > this.#order.length) this.#order = new Float64Array(2 * count)
    const { numbers, starts, ends } = this.#series
    const order = this.#order.subarray(0, count)
    for (let at = 0; at < count; at++) order[at] = (numbers[at] ?? 0) * PLACES + at
    order.sort()
    const [oldStarts, oldEnds] = [starts.slice(0, count), ends.slice(0, count)]
    for (let at = 0; at < count; at++) {
      const key = order[at] ?? 0
      const number = Math.floor(key / PLACES)
      const from = key - number * PLACES
      numbers[at] = number
      starts[at] = oldStarts[from] ?? 0
      ends[at] = oldEnds[from] ?? 0
    }
  }

  /** The series of a company of which one stands in several parts: DuckDB's threads hand over their rows in turn. */
  #joined(count: number): CompanySeries {
    const { years, values, figures } = this.#columns
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
const moveBack = ({ years, values, figures }: Columns, row: number, start: number): void => {
  const [year, value, figure] = [years[row] ?? 0, values[row] ?? 0, figures[row] ?? 0]
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

const PLACES = 2 ** 22

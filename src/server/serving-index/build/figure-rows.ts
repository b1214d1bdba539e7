/**
 * The rows of `figure` of some thousands of companies, gathered while their documents are written: the years of a line item are
 * one row, so that nothing is grouped or sorted by DuckDB.
 */

import { CATEGORIES, LINE_ITEMS } from '../../../contract/line-items.ts'
import type { CompanyPieces } from '../../../restore/restore.ts'
import { EMPLOYEES, FIGURE_NAMES } from '../index-form.ts'

/** Years without a figure that a row bridges; after more of them another row begins. */
const MOST_GAP = 16
const NO_NAME = -1

/** The category where each name is at home: a line item counts there only. */
const HOMES = new Map<string, string | undefined>(
  LINE_ITEMS.map(({ category, lineItem }) => [lineItem, CATEGORIES.find((one) => one === category)]),
)
const PLACES = new Map(FIGURE_NAMES.map((name, place) => [name, place]))

const HEADCOUNT = PLACES.get(EMPLOYEES) ?? NO_NAME
/** The code of figures that are in no currency. */
export const NO_CURRENCY = -1

type Names = CompanyPieces['names']
type Series = CompanyPieces['series']

/** Rows by name, and where those of each name and their earlier years begin. */
export interface FigureRun {
  readonly starts: Int32Array
  readonly earlierStarts: Int32Array
  readonly columns: FigureColumns
}

export interface FigureColumns {
  readonly ids: BigInt64Array
  readonly values: Float64Array
  /** Earlier years of all rows, those of one row behind those of the row before. */
  readonly earlier: Float64Array
  /** How many earlier years a row has. */
  readonly lengths: Int32Array
  readonly currencies: Int32Array
  readonly years: Int16Array
  readonly latest: Int16Array
  /** 1 for each value of `earlier` that is there, else 0. */
  readonly isThere: Uint8Array
}

/** The index of each item among the names of figures. */
const placesOf = ({ items }: Names): Int16Array =>
  Int16Array.from(items, (item) =>
    HOMES.get(item.lineItem) === item.category ? (PLACES.get(item.lineItem) ?? NO_NAME) : NO_NAME,
  )

const grown = <T extends Float64Array | BigInt64Array | Int32Array | Int16Array | Uint8Array>(
  old: T,
  larger: T,
): T => {
  if (old instanceof BigInt64Array && larger instanceof BigInt64Array) larger.set(old)
  else if (!(old instanceof BigInt64Array) && !(larger instanceof BigInt64Array)) larger.set(old)
  return larger
}

type AddedCompany = Pick<CompanyPieces, 'id' | 'series' | 'headcounts' | 'names'>

export class FigureRows {
  #rows = 0
  #names = new Int16Array(1 << 12)
  #ids = new BigInt64Array(1 << 12)
  #years = new Int16Array(1 << 12)
  #latest = new Int16Array(1 << 12)
  #values = new Float64Array(1 << 12)
  #currencies = new Int32Array(1 << 12)
  /** The end of each row's earlier years among all; they begin where those of the row before end. */
  #ends = new Int32Array(1 << 12)
  #earlier = new Float64Array(1 << 14)
  #isThere = new Uint8Array(1 << 14)
  #length = 0
  /** Figures of one line item by ascending year. */
  #year = new Int16Array(256)
  #value = new Float64Array(256)
  #currency = NO_CURRENCY
  #known: { readonly names: Names; readonly places: Int16Array } | undefined

  get rows(): number {
    return this.#rows
  }

  clear(): void {
    this.#rows = 0
    this.#length = 0
  }

  /** @param currency a code for that of the company */
  add({ id, series, headcounts, names }: AddedCompany, currency: number): void {
    this.#addHeadcounts(id, headcounts)
    this.#currency = currency
    if (this.#known?.names !== names) this.#known = { names, places: placesOf(names) }
    const { places } = this.#known
    const items = names.items.length
    const { numbers, count } = series
    let parent = 0
    while (parent < count && (numbers[parent] ?? 0) < items) parent++
    const groups = parent
    for (let group = 0; group < groups || parent < count; ) {
      const ofGroup = group < groups ? (numbers[group] ?? 0) : Number.POSITIVE_INFINITY
      const ofParent = parent < count ? (numbers[parent] ?? 0) - items : Number.POSITIVE_INFINITY
      const item = Math.min(ofGroup, ofParent)
      const name = places[item] ?? NO_NAME
      if (name !== NO_NAME)
        this.#addRows(name, id, series, ofGroup === item ? group : -1, ofParent === item ? parent : -1)
      if (ofGroup === item) group++
      if (ofParent === item) parent++
    }
  }

  #addHeadcounts(id: bigint, series: Series): void {
    this.#currency = NO_CURRENCY
    const placeOf = (consolidation: number): number =>
      series.numbers.subarray(0, series.count).indexOf(consolidation)
    if (series.count > 0) this.#addRows(HEADCOUNT, id, series, placeOf(0), placeOf(1))
  }

  /** @param group place of the consolidated series, -1 for none @param parent of the other one */
  #addRows(name: number, id: bigint, series: Series, group: number, parent: number): void {
    const { starts, ends, years, values } = series
    let [at, end] = group < 0 ? [0, 0] : [starts[group] ?? 0, ends[group] ?? 0]
    let [other, otherEnd] = parent < 0 ? [0, 0] : [starts[parent] ?? 0, ends[parent] ?? 0]
    const most = end - at + otherEnd - other
    if (most > this.#year.length) {
      this.#year = new Int16Array(2 * most)
      this.#value = new Float64Array(2 * most)
    }
    let count = 0
    while (at < end || other < otherEnd) {
      const year = at < end ? (years[at] ?? 0) : Number.POSITIVE_INFINITY
      const otherYear = other < otherEnd ? (years[other] ?? 0) : Number.POSITIVE_INFINITY
      const isGroups = year <= otherYear
      this.#year[count] = isGroups ? year : otherYear
      this.#value[count++] = values[isGroups ? at : other] ?? 0
      if (isGroups) at++
      if (otherYear <= year) other++
    }
    for (let last = count - 1; last >= 0; ) last = this.#addRow(name, id, last, last === count - 1)
  }

  /** Adds a row of the years up to the one at a place. @returns the place of the year that it no longer holds */
  #addRow(name: number, id: bigint, last: number, isLatest: boolean): number {
    const row = this.#rows++
    if (row === this.#ids.length) this.#growRows(2 * row)
    this.#names[row] = name
    this.#ids[row] = id
    this.#years[row] = this.#year[last] ?? 0
    this.#values[row] = this.#value[last] ?? 0
    this.#latest[row] = isLatest ? 1 : 0
    this.#currencies[row] = this.#currency
    let before = this.#year[last] ?? 0
    let at = last - 1
    for (; at >= 0; at--) {
      const year = this.#year[at] ?? 0
      const gap = before - year - 1
      if (gap > MOST_GAP) break
      if (this.#length + gap + 1 > this.#earlier.length) this.#growEarlier()
      for (let missing = 0; missing < gap; missing++) {
        this.#earlier[this.#length] = 0
        this.#isThere[this.#length++] = 0
      }
      this.#earlier[this.#length] = this.#value[at] ?? 0
      this.#isThere[this.#length++] = 1
      before = year
    }
    this.#ends[row] = this.#length
    return at
  }

  #growRows(rows: number): void {
    this.#names = grown(this.#names, new Int16Array(rows))
    this.#ids = grown(this.#ids, new BigInt64Array(rows))
    this.#years = grown(this.#years, new Int16Array(rows))
    this.#latest = grown(this.#latest, new Int16Array(rows))
    this.#values = grown(this.#values, new Float64Array(rows))
    this.#currencies = grown(this.#currencies, new Int32Array(rows))
    this.#ends = grown(this.#ends, new Int32Array(rows))
  }

  #growEarlier(): void {
    this.#earlier = grown(this.#earlier, new Float64Array(2 * this.#earlier.length))
    this.#isThere = grown(this.#isThere, new Uint8Array(2 * this.#isThere.length))
  }

  /** The rows by name, of one name in the order in which they came. */
  run(): FigureRun {
    const { order, starts } = this.#order()
    const rows = this.#rows
    const run: FigureRun = {
      starts,
      earlierStarts: new Int32Array(starts.length),
      columns: {
        ids: new BigInt64Array(rows),
        values: new Float64Array(rows),
        earlier: new Float64Array(this.#length),
        lengths: new Int32Array(rows),
        currencies: new Int32Array(rows),
        years: new Int16Array(rows),
        latest: new Int16Array(rows),
        isThere: new Uint8Array(this.#length),
      },
    }
    const { ids, values, earlier, lengths, currencies, years, latest, isThere } = run.columns
    const all = {
      values: this.#values,
      years: this.#years,
      latest: this.#latest,
      currencies: this.#currencies,
    }
    // A bigint for each row would cost more than all else.
    const [idWords, allIdWords] = [new Int32Array(ids.buffer), new Int32Array(this.#ids.buffer)]
    let [to, name] = [0, 0]
    for (let row = 0; row < rows; row++) {
      while (row === starts[name]) run.earlierStarts[name++] = to
      const from = order[row] ?? 0
      idWords[2 * row] = allIdWords[2 * from] ?? 0
      idWords[2 * row + 1] = allIdWords[2 * from + 1] ?? 0
      values[row] = all.values[from] ?? 0
      years[row] = all.years[from] ?? 0
      latest[row] = all.latest[from] ?? 0
      currencies[row] = all.currencies[from] ?? 0
      const length = this.#lengthOf(from)
      lengths[row] = length
      this.#copyEarlier((this.#ends[from] ?? 0) - length, length, earlier, isThere, to)
      to += length
    }
    run.earlierStarts.fill(to, name)
    return run
  }

  #copyEarlier(start: number, length: number, earlier: Float64Array, isThere: Uint8Array, to: number): void {
    const allEarlier = this.#earlier
    const allThere = this.#isThere
    for (let at = 0; at < length; at++) {
      earlier[to + at] = allEarlier[start + at] ?? 0
      isThere[to + at] = allThere[start + at] ?? 0
    }
  }

  #lengthOf(row: number): number {
    return (this.#ends[row] ?? 0) - (row === 0 ? 0 : (this.#ends[row - 1] ?? 0))
  }

  /** Rows by name, counted into their places; and where those of each name begin. */
  #order(): { readonly order: Int32Array; readonly starts: Int32Array } {
    const starts = new Int32Array(FIGURE_NAMES.length + 1)
    for (let row = 0; row < this.#rows; row++) {
      const after = (this.#names[row] ?? 0) + 1
      starts[after] = (starts[after] ?? 0) + 1
    }
    for (let name = 1; name < starts.length; name++)
      starts[name] = (starts[name] ?? 0) + (starts[name - 1] ?? 0)
    const next = starts.slice()
    const order = new Int32Array(this.#rows)
    for (let row = 0; row < this.#rows; row++) {
      const name = this.#names[row] ?? 0
      const place = next[name] ?? 0
      order[place] = row
      next[name] = place + 1
    }
    return { order, starts }
  }
}

/**
 * The rows of `figure` of some thousands of companies, gathered while their documents are written: the years of a line item are
 * one row, so that nothing is grouped or sorted by DuckDB.
 */

import { CATEGORIES, LINE_ITEMS } from '../../../contract/line-items.ts'
import type { ColumnTable } from '../../../lake/duckdb/column-tables.ts'
import { CHUNK_ROWS } from '../../../lake/duckdb/vectors.ts'
import type { CompanyPieces } from '../../../load/restore/restore.ts'
import { FIGURE_NAMES } from '../index-form.ts'

/** Years without a figure that a row bridges; after more of them another row begins. */
const MOST_GAP = 16
const NO_NAME = -1

/** The category where each name is at home: a line item counts there only. */
const HOMES = new Map<string, string | undefined>(
  LINE_ITEMS.map(({ category, lineItem }) => [lineItem, CATEGORIES.find((one) => one === category)]),
)
const PLACES = new Map(FIGURE_NAMES.map((name, place) => [name, place]))

type Names = CompanyPieces['names']

/** Of each item's number the place among the names of figures. */
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

export class FigureRows {
  #rows = 0
  #names = new Int16Array(1 << 12)
  #ids = new BigInt64Array(1 << 12)
  #years = new Int16Array(1 << 12)
  #latest = new Int16Array(1 << 12)
  #values = new Float64Array(1 << 12)
  /** Where each row's earlier years end among all; they begin where those of the row before end. */
  #ends = new Int32Array(1 << 12)
  #earlier = new Float64Array(1 << 14)
  #isThere = new Uint8Array(1 << 14)
  #length = 0
  /** Figures of one line item by ascending year. */
  #year = new Int16Array(256)
  #value = new Float64Array(256)
  #known: { readonly names: Names; readonly places: Int16Array } | undefined

  get rows(): number {
    return this.#rows
  }

  clear(): void {
    this.#rows = 0
    this.#length = 0
  }

  add({ id, series, names }: Pick<CompanyPieces, 'id' | 'series' | 'names'>): void {
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

  /** @param group place of the consolidated series, -1 for none @param parent of the other one */
  #addRows(name: number, id: bigint, series: CompanyPieces['series'], group: number, parent: number): void {
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
    this.#ends = grown(this.#ends, new Int32Array(rows))
  }

  #growEarlier(): void {
    this.#earlier = grown(this.#earlier, new Float64Array(2 * this.#earlier.length))
    this.#isThere = grown(this.#isThere, new Uint8Array(2 * this.#isThere.length))
  }

  /** The rows by name, of one name in the order in which they came. */
  table(): ColumnTable {
    const order = this.#order()
    return {
      columns: [
        { name: 'line_item', type: { values: FIGURE_NAMES, textOf: (code) => FIGURE_NAMES[code] ?? '' } },
        { name: 'internal_id', type: 'BIGINT' },
        { name: 'fiscal_year', type: 'SMALLINT' },
        { name: 'value', type: 'DOUBLE' },
        { name: 'earlier', type: 'DOUBLE[]' },
        { name: 'latest', type: 'SMALLINT' },
      ],
      rows: this.#rows,
      read: () => {
        const codes = new Int32Array(CHUNK_ROWS)
        const ids = new BigInt64Array(CHUNK_ROWS)
        const years = new Int16Array(CHUNK_ROWS)
        const values = new Float64Array(CHUNK_ROWS)
        const latest = new Int16Array(CHUNK_ROWS)
        const places = new BigUint64Array(2 * CHUNK_ROWS)
        // The lower words are enough, and a bigint for each row would cost more than all else.
        const placeWords = new Uint32Array(places.buffer)
        const idWords = new Int32Array(ids.buffer)
        const allIdWords = new Int32Array(this.#ids.buffer)
        let [items, valid] = [new Float64Array(0), new Uint8Array(0)]
        let done = 0
        return (vectors) => {
          const rows = Math.min(CHUNK_ROWS, order.length - done)
          if (rows === 0) return 0
          let size = 0
          for (let row = 0; row < rows; row++) size += this.#lengthOf(order[done + row] ?? 0)
          if (size > items.length) {
            items = new Float64Array(2 * size)
            valid = new Uint8Array(Math.ceil(size / 32) * 8)
          }
          valid.fill(0)
          let to = 0
          for (let row = 0; row < rows; row++) {
            const from = order[done + row] ?? 0
            codes[row] = this.#names[from] ?? 0
            idWords[2 * row] = allIdWords[2 * from] ?? 0
            idWords[2 * row + 1] = allIdWords[2 * from + 1] ?? 0
            years[row] = this.#years[from] ?? 0
            values[row] = this.#values[from] ?? 0
            latest[row] = this.#latest[from] ?? 0
            const length = this.#lengthOf(from)
            const start = (this.#ends[from] ?? 0) - length
            placeWords[4 * row] = to
            placeWords[4 * row + 2] = length
            for (let at = 0; at < length; at++, to++) {
              items[to] = this.#earlier[start + at] ?? 0
              if (this.#isThere[start + at] === 1) valid[to >> 3] = (valid[to >> 3] ?? 0) | (1 << (to & 7))
            }
          }
          vectors.codes(0, codes, rows)
          vectors.numbers(1, ids, rows)
          vectors.numbers(2, years, rows)
          vectors.numbers(3, values, rows)
          vectors.lists(4, places, items, valid, rows)
          vectors.numbers(5, latest, rows)
          done += rows
          return rows
        }
      },
    }
  }

  #lengthOf(row: number): number {
    return (this.#ends[row] ?? 0) - (row === 0 ? 0 : (this.#ends[row - 1] ?? 0))
  }

  /** Rows by name, counted into their places. */
  #order(): Int32Array {
    const next = new Int32Array(FIGURE_NAMES.length + 1)
    for (let row = 0; row < this.#rows; row++) {
      const after = (this.#names[row] ?? 0) + 1
      next[after] = (next[after] ?? 0) + 1
    }
    for (let name = 1; name < next.length; name++) next[name] = (next[name] ?? 0) + (next[name - 1] ?? 0)
    const order = new Int32Array(this.#rows)
    for (let row = 0; row < this.#rows; row++) {
      const name = this.#names[row] ?? 0
      const place = next[name] ?? 0
      order[place] = row
      next[name] = place + 1
    }
    return order
  }
}

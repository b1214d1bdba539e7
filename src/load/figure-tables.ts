/**
 * The figures and headcounts of a part as tables that DuckDB selects from: `financials` and `employees`. What is written
 * once a record or a series in the columns of the block is here written for each row, chunk by chunk.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import type { ColumnDeclaration, ColumnTable, Names } from '../lake/duckdb/column-tables.ts'
import { CHUNK_ROWS, type Vectors } from '../lake/duckdb/vectors.ts'
import type { BlockRows } from './block-rows.ts'
import type { CheckedPart } from './check-block.ts'
import { namesOf } from './name-codes.ts'
import type { SeriesRows } from './series-rows.ts'

const CONSOLIDATION_NAMES = CONSOLIDATIONS.map(({ name }) => name)
const CONSOLIDATION: Names = {
  values: CONSOLIDATION_NAMES,
  textOf: (code) => CONSOLIDATION_NAMES[code] ?? '',
}

/**
 * Rows of `financials`: one a reported figure; an absent figure is no row, 0 is one. `reported` is NULL but
 * where the scaled value divided by the scale does not restore the reported figure.
 *
 * Units: `value` in whole units of `currency` for amounts, as reported for all other line items.
 * Source: service interface, "Financial data structure"; open points, "Scale".
 */
export const financialsTable = (part: CheckedPart, bytes: Buffer): ColumnTable => {
  const { figures, figuresEnd, names } = part.rows
  const columns: readonly ColumnDeclaration[] = [
    { name: 'internal_id', type: 'BIGINT' },
    { name: 'country_code', type: namesOf(names.countries, bytes) },
    { name: 'consolidation', type: CONSOLIDATION },
    { name: 'category', type: namesOf(names.categories, bytes) },
    { name: 'line_item', type: namesOf(names.lineItems, bytes) },
    { name: 'fiscal_year', type: 'SMALLINT' },
    { name: 'value', type: 'DOUBLE' },
    { name: 'currency', type: namesOf(names.currencies, bytes) },
    { name: 'reported', type: 'DOUBLE' },
  ]
  return {
    columns,
    rows: countRows(part, figuresEnd),
    read: () => {
      const reader = new RowReader(part, figures, figuresEnd)
      return (vectors) => {
        const rows = reader.next()
        vectors.numbers(0, reader.id, rows)
        vectors.codes(1, reader.country, rows)
        vectors.codes(2, reader.consolidation, rows)
        vectors.codes(3, reader.category, rows)
        vectors.codes(4, reader.lineItem, rows)
        vectors.numbers(5, reader.year, rows)
        vectors.numbers(6, reader.value, rows)
        vectors.codes(7, reader.currency, rows)
        vectors.numbersOrNull(8, reader.kept, reader.isKept, rows)
        return rows
      }
    },
  }
}

/** Rows of `employees`: one a company, consolidation and year. */
export const employeesTable = (part: CheckedPart, bytes: Buffer): ColumnTable => {
  const { headcounts, headcountsEnd, names } = part.rows
  const columns: readonly ColumnDeclaration[] = [
    { name: 'internal_id', type: 'BIGINT' },
    { name: 'country_code', type: namesOf(names.countries, bytes) },
    { name: 'consolidation', type: CONSOLIDATION },
    { name: 'fiscal_year', type: 'SMALLINT' },
    { name: 'employees', type: 'DOUBLE' },
  ]
  return {
    columns,
    rows: countRows(part, headcountsEnd),
    read: () => {
      const reader = new RowReader(part, headcounts, headcountsEnd)
      return (vectors: Vectors) => {
        const rows = reader.next()
        vectors.numbers(0, reader.id, rows)
        vectors.codes(1, reader.country, rows)
        vectors.codes(2, reader.consolidation, rows)
        vectors.numbers(3, reader.year, rows)
        vectors.numbers(4, reader.value, rows)
        return rows
      }
    },
  }
}

/** The row that a record's rows begin at. */
export const firstRow = (end: Uint32Array, record: number): number => (record === 0 ? 0 : end[record - 1]!)

const countRows = ({ members }: CheckedPart, end: Uint32Array): number =>
  members.reduce((sum, record) => sum + end[record]! - firstRow(end, record), 0)

/** Rows of some records, from a block's columns into those of a chunk. */
class RowReader {
  readonly id = new BigInt64Array(CHUNK_ROWS)
  readonly country = new Int32Array(CHUNK_ROWS)
  readonly currency = new Int32Array(CHUNK_ROWS)
  readonly consolidation = new Int32Array(CHUNK_ROWS)
  readonly category = new Int32Array(CHUNK_ROWS)
  readonly lineItem = new Int32Array(CHUNK_ROWS)
  readonly year = new Int16Array(CHUNK_ROWS)
  readonly value = new Float64Array(CHUNK_ROWS)
  readonly kept = new Float64Array(CHUNK_ROWS)
  readonly isKept = new Uint8Array(CHUNK_ROWS / 8)
  readonly #records: BlockRows
  readonly #members: readonly number[]
  readonly #rows: SeriesRows
  readonly #end: Uint32Array
  #member = 0
  /** The next row, its series, and the next kept figure. */
  #row = 0
  #series = 0
  #keptAt = 0

  constructor({ rows, members }: CheckedPart, series: SeriesRows, end: Uint32Array) {
    this.#records = rows
    this.#members = members
    this.#rows = series
    this.#end = end
  }

  /** Fills the next chunk. @returns how many rows it has; 0 at the end */
  next(): number {
    this.isKept.fill(0)
    let filled = 0
    while (filled < CHUNK_ROWS) {
      const record = this.#members[this.#member]
      if (record === undefined) break
      this.#row = Math.max(this.#row, firstRow(this.#end, record))
      const rows = Math.min(this.#end[record]! - this.#row, CHUNK_ROWS - filled)
      if (rows > 0) this.#fill(record, filled, rows)
      filled += rows
      if (this.#row === this.#end[record]) this.#member++
    }
    return filled
  }

  #fill(record: number, at: number, count: number): void {
    const { id, country, currency } = this.#records
    this.id.fill(id[record]!, at, at + count)
    this.country.fill(country[record]!, at, at + count)
    this.currency.fill(currency[record]!, at, at + count)
    this.#fillFigures(at, count)
    this.#fillSeries(at, count)
    this.#fillKept(at, count)
    this.#row += count
  }

  #fillFigures(at: number, count: number): void {
    const { year, value } = this.#rows
    const row = this.#row
    for (let next = 0; next < count; next++) {
      this.year[at + next] = year[row + next]!
      this.value[at + next] = value[row + next]!
    }
  }

  #fillSeries(at: number, count: number): void {
    const { end, statement, category, lineItem } = this.#rows
    const to = this.#row + count
    let series = this.#series
    // Of the records left out the series are passed over.
    while (end[series]! <= this.#row) series++
    for (let row = this.#row, next = at; row < to; ) {
      const stop = Math.min(end[series]!, to)
      const consolidation = statement[series]!
      const sheet = category[series]!
      const item = lineItem[series]!
      for (; row < stop; row++, next++) {
        this.consolidation[next] = consolidation
        this.category[next] = sheet
        this.lineItem[next] = item
      }
      if (stop === end[series]) series++
    }
    this.#series = series
  }

  #fillKept(at: number, count: number): void {
    const { kept, keptRow, keptFigure } = this.#rows
    const to = this.#row + count
    let next = this.#keptAt
    while (next < kept && keptRow[next]! < this.#row) next++
    for (; next < kept && keptRow[next]! < to; next++) {
      const place = at + keptRow[next]! - this.#row
      this.kept[place] = keptFigure[next]!
      this.isKept[place >> 3]! |= 1 << (place & 7)
    }
    this.#keptAt = next
  }
}

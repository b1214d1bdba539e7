/**
 * The figures and headcounts of a part as tables that DuckDB selects from: `financials` and `employees`. They cross as
 * they stand in the columns of the block, a row for each series with its years and values as lists; SQL makes rows of these. What
 * holds for a figure's statement stands in a third list, as one number.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import type { ColumnDeclaration, ColumnTable, Names } from '../lake/duckdb/column-tables.ts'
import { CHUNK_ROWS, type Vectors } from '../lake/duckdb/vectors.ts'
import type { BlockRows } from '../rows/block-rows.ts'
import { moneyCategories, NO_NAME, namesOf } from '../rows/seen-sets.ts'
import type { SeriesRows } from '../rows/series-rows.ts'
import type { RowPart } from './row-table.ts'
import { StatementFacts } from './statement-facts.ts'

/** A part, its block's bytes, and what DuckDB makes of the values that are not read here. */
export type FigurePart = Pick<RowPart, 'part' | 'bytes' | 'odd'>

const CONSOLIDATION_NAMES = CONSOLIDATIONS.map(({ name }) => name)
const CONSOLIDATION: Names = {
  values: CONSOLIDATION_NAMES,
  textOf: (code) => CONSOLIDATION_NAMES[code] ?? '',
}

/**
 * Rows of `financials`: one a reported figure; an absent figure is no row, 0 is one. `reported` is NULL but
 * where the scaled value divided by the scale does not restore the reported figure, and `currency` is NULL where the contract does
 * not know the line item as money: ratios and the like are the same in every currency.
 *
 * Units: `value` in whole units of `currency` for amounts, as reported for all other line items.
 * Source: service interface, "Financial data structure"; open points, "Scale".
 */
export const financialsTable = (loaded: FigurePart): ColumnTable => {
  const { part, bytes } = loaded
  const { figures, names } = part.rows
  const hasKept = figures.kept.length > 0
  const columns: readonly ColumnDeclaration[] = [
    { name: 'internal_id', type: 'BIGINT' },
    { name: 'country_code', type: namesOf(names.countries, bytes) },
    { name: 'consolidation', type: CONSOLIDATION },
    { name: 'category', type: namesOf(names.categories, bytes) },
    { name: 'line_item', type: namesOf(names.lineItems, bytes) },
    { name: 'currency', type: namesOf(names.currencies, bytes) },
    { name: 'years', type: 'SMALLINT[]' },
    { name: 'figures', type: 'DOUBLE[]' },
    { name: 'facts', type: 'SMALLINT[]' },
    ...(hasKept ? [{ name: 'kept', type: 'DOUBLE[]' } as const] : []),
  ]
  return {
    columns,
    rows: figures.figures.length,
    select: `internal_id, country_code, consolidation, category, line_item, unnest(years) AS fiscal_year,
      unnest(figures) AS value, currency, ${hasKept ? 'unnest(kept)' : 'NULL::DOUBLE'} AS reported,
      nullif(unnest(facts) >> 1, 0)::SMALLINT AS months, unnest(facts) & 1 = 1 AS is_preferred`,
    read: () => {
      const reader = new SeriesReader(loaded, 'figures')
      return (vectors) => {
        const series = reader.next()
        vectors.numbers(0, reader.id, series)
        vectors.codes(1, reader.country, series)
        vectors.codes(2, reader.consolidation, series)
        vectors.codes(3, reader.category, series)
        vectors.codes(4, reader.lineItem, series)
        vectors.codes(5, reader.currency, series)
        vectors.numberLists(6, reader.places, reader.year, series)
        vectors.numberLists(7, reader.places, reader.value, series)
        vectors.numberLists(8, reader.places, reader.facts, series)
        if (hasKept) vectors.numberLists(9, reader.places, reader.kept, series, reader.isKept)
        return series
      }
    },
  }
}

/** Rows of `employees`: one a company, consolidation and year. */
export const employeesTable = (loaded: FigurePart): ColumnTable => {
  const { part, bytes } = loaded
  const { headcounts, names } = part.rows
  const columns: readonly ColumnDeclaration[] = [
    { name: 'internal_id', type: 'BIGINT' },
    { name: 'country_code', type: namesOf(names.countries, bytes) },
    { name: 'consolidation', type: CONSOLIDATION },
    { name: 'years', type: 'SMALLINT[]' },
    { name: 'figures', type: 'DOUBLE[]' },
    { name: 'facts', type: 'SMALLINT[]' },
  ]
  return {
    columns,
    rows: headcounts.figures.length,
    select: `internal_id, country_code, consolidation, unnest(years) AS fiscal_year, unnest(figures) AS employees,
      unnest(facts) = 1 AS is_preferred`,
    read: () => {
      const reader = new SeriesReader(loaded, 'headcounts')
      return (vectors: Vectors) => {
        const series = reader.next()
        vectors.numbers(0, reader.id, series)
        vectors.codes(1, reader.country, series)
        vectors.codes(2, reader.consolidation, series)
        vectors.numberLists(3, reader.places, reader.year, series)
        vectors.numberLists(4, reader.places, reader.value, series)
        vectors.numberLists(5, reader.places, reader.facts, series)
        return series
      }
    },
  }
}

const MONEY_CATEGORIES = moneyCategories()

/** The row that a record's rows begin at. */
const firstRow = (end: Uint32Array, record: number): number => (record === 0 ? 0 : end[record - 1]!)

const FIRST_FIGURES = 32_768

/** Series of some records, from a block's columns into those of a chunk. */
class SeriesReader {
  readonly id = new BigInt64Array(CHUNK_ROWS)
  readonly country = new Int32Array(CHUNK_ROWS)
  readonly currency = new Int32Array(CHUNK_ROWS)
  readonly consolidation = new Int32Array(CHUNK_ROWS)
  readonly category = new Int32Array(CHUNK_ROWS)
  readonly lineItem = new Int32Array(CHUNK_ROWS)
  /** Per series: where its figures begin, and how many they are. */
  readonly places = new BigUint64Array(2 * CHUNK_ROWS)
  year = new Int16Array(FIRST_FIGURES)
  value = new Float64Array(FIRST_FIGURES)
  /** Facts of each figure's statement, as `StatementFacts` gives them. */
  facts = new Int16Array(FIRST_FIGURES)
  /** Figures that are kept beside their value, and a bit for each figure that is. */
  kept = new Float64Array(0)
  isKept = new Uint8Array(0)
  /** The lower halves of the places; the upper ones are 0. */
  readonly #placeWords = new Uint32Array(this.places.buffer)
  readonly #records: BlockRows
  readonly #members: readonly number[]
  readonly #kind: 'figures' | 'headcounts'
  readonly #rows: SeriesRows
  readonly #end: Uint32Array
  readonly #statements: StatementFacts
  /** The record that the facts are of. */
  #read = -1
  #filled = 0
  #figures = 0
  #member = 0
  /** The next row, its series, and the next kept figure. */
  #row = 0
  #series = 0
  #keptAt = 0

  constructor({ part, bytes, odd }: FigurePart, kind: 'figures' | 'headcounts') {
    const { rows, members } = part
    const { figuresEnd, headcountsEnd } = rows.records.columns
    this.#records = rows
    this.#members = members
    this.#kind = kind
    this.#rows = rows[kind]
    this.#end = kind === 'figures' ? figuresEnd : headcountsEnd
    this.#statements = new StatementFacts(part, bytes, odd)
  }

  /** Fills the next chunk. @returns how many series it has; 0 at the end */
  next(): number {
    this.#filled = 0
    this.#figures = 0
    this.isKept.fill(0)
    while (this.#filled < CHUNK_ROWS) {
      const record = this.#members[this.#member]
      if (record === undefined) break
      const first = firstRow(this.#end, record)
      if (this.#row < first) this.#skipTo(first)
      if (this.#read !== record) this.#readFacts(record)
      this.#fill(record)
      if (this.#row === this.#end[record]) this.#member++
    }
    return this.#filled
  }

  /** Passes over the series of records that are left out. */
  #skipTo(row: number): void {
    const { columns, length } = this.#rows.series
    while (this.#series < length && columns.end[this.#series]! <= row) this.#series++
    this.#row = row
  }

  #readFacts(record: number): void {
    const { figuresEnd, headcountsEnd } = this.#records.records.columns
    const row = firstRow(figuresEnd, record)
    if (this.#kind === 'figures') this.#statements.readFigures(record, row)
    else this.#statements.readHeadcounts(record, row, firstRow(headcountsEnd, record))
    this.#read = record
  }

  /** Takes what is left of a record's series, as far as there is room for them. */
  #fill(record: number): void {
    const { end, statement, category, lineItem } = this.#rows.series.columns
    const { id, country, currency } = this.#records.records.columns
    const words = this.#placeWords
    const [from, first, last] = [this.#filled, this.#row, this.#end[record]!]
    let [at, series, row] = [from, this.#series, first]
    for (; row < last && at < CHUNK_ROWS; at++, series++) {
      const behind = end[series]!
      words[4 * at] = this.#figures + row - first
      words[4 * at + 2] = behind - row
      this.consolidation[at] = statement[series]!
      this.category[at] = category[series]!
      this.lineItem[at] = lineItem[series]!
      this.currency[at] =
        MONEY_CATEGORIES[lineItem[series]!] === category[series] ? currency[record]! : NO_NAME
      row = behind
    }
    this.id.fill(id[record]!, from, at)
    this.country.fill(country[record]!, from, at)
    this.#fillFigures(this.#series, first, row)
    this.#filled = at
    this.#series = series
    this.#row = row
  }

  #fillFigures(series: number, from: number, to: number): void {
    const { figures, kept } = this.#rows
    const { year, value } = figures.columns
    const at = this.#figures
    this.#figures += to - from
    this.year = withRoom(this.year, this.#figures)
    this.value = withRoom(this.value, this.#figures)
    this.year.set(year.subarray(from, to), at)
    this.value.set(value.subarray(from, to), at)
    this.facts = withRoom(this.facts, this.#figures)
    this.#statements.fill(this.facts, at, this.#rows, series, from, to)
    if (kept.length > 0) this.#fillKept(from, to, at)
  }

  #fillKept(from: number, to: number, at: number): void {
    const { columns, length } = this.#rows.kept
    this.kept = withRoom(this.kept, this.value.length)
    this.isKept = withRoom(this.isKept, this.value.length / 8)
    let next = this.#keptAt
    while (next < length && columns.row[next]! < from) next++
    for (; next < length && columns.row[next]! < to; next++) {
      const place = at + columns.row[next]! - from
      this.kept[place] = columns.figure[next]!
      this.isKept[place >> 3]! |= 1 << (place & 7)
    }
    this.#keptAt = next
  }
}

/** A column of at least `items` items, that begins with those of `column`. */
const withRoom = <C extends Int16Array | Float64Array | Uint8Array>(column: C, items: number): C => {
  if (items <= column.length) return column
  // Whole words of bits.
  const length = Math.ceil(Math.max(items, 2 * column.length) / 64) * 64
  const larger = new (column.constructor as new (length: number) => C)(length)
  larger.set(column)
  return larger
}

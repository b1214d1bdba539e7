/**
 * The figures and headcounts of a slice's companies out of the lake's files: of each company its series. Line items are
 * numbered as they come, then in the order in which they are nested.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { sliceView } from '../lake/slices/slices.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import type { Strings } from './column-texts.ts'
import { CompanyRanges, type CompanySeries, NestedSeries } from './nested-series.ts'
import { NUMBER_BYTES, writeDouble, writeYear } from './number-text.ts'
import { CodedColumn, DoubleColumn, dictionaryIntegers, dictionaryStrings } from './parquet/column-reader.ts'
import type { ParquetFile, RowGroup } from './parquet/parquet-file.ts'

const { OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

/** A line item in its category. */
export interface ItemName {
  readonly category: string
  readonly lineItem: string
}

/**
 * A figure's number is statement × items + item: the items of the consolidated statements, then those of the others; items by
 * the bytes of category and line item.
 */
export interface ItemNames {
  readonly items: readonly ItemName[]
}

/** Whether the scale was applied to a line item when it was loaded. */
export type IsScaled = (category: string, lineItem: string) => boolean

const keyOf = (category: string, lineItem: string): string => JSON.stringify([category, lineItem])

/** Reads the dictionary of the run that loaded the slice. Names come as JSON: a leading U+FEFF of a plain name would be dropped. */
export const scaledItems = async (session: Session): Promise<IsScaled> => {
  const rows = await session.rows(
    `SELECT to_json(category)::VARCHAR AS category, to_json(line_item)::VARCHAR AS line_item FROM ${sliceView('line_items')} WHERE scaled`,
  )
  const scaled = new Set(
    rows.map(({ category, line_item }) =>
      keyOf(String(JSON.parse(String(category))), String(JSON.parse(String(line_item)))),
    ),
  )
  return (category, lineItem) => scaled.has(keyOf(category, lineItem))
}

/** Numbers items in the order in which they come. */
class ItemNumbers {
  readonly #names: ItemName[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(category: string, lineItem: string): number {
    const key = keyOf(category, lineItem)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#names.length)
    return this.#names.push({ category, lineItem }) - 1
  }

  /** Line items in the order in which they are nested, and by number the place of each among them. */
  inOrder(): { readonly names: ItemNames; readonly places: Int32Array } {
    const sorted = this.#names
      .map((name, number) => ({
        ...{ name, number },
        bytes: [Buffer.from(name.category), Buffer.from(name.lineItem)] as const,
      }))
      .sort(({ bytes: a }, { bytes: b }) => Buffer.compare(a[0], b[0]) || Buffer.compare(a[1], b[1]))
    const places = new Int32Array(sorted.length)
    for (const [place, { number }] of sorted.entries()) places[number] = place
    return { names: { items: sorted.map(({ name }) => name) }, places }
  }
}

/** A company of the slice. */
export interface Owner {
  readonly id: bigint
  /** The factor of its scale. */
  readonly factor: number
}

/** The figures to read for a slice. */
export interface FiguresRequest {
  /** Files in which the companies' figures may stand, beside those of others. */
  readonly files: readonly string[]
  readonly owners: readonly Owner[]
  readonly isScaled: IsScaled
}

const NO_NAMES = { categories: [], lineItems: [] }

export class SliceFigures {
  readonly #ranges = new CompanyRanges()
  readonly #statements = new CodedColumn('consolidation')
  readonly #categories = new CodedColumn('category')
  readonly #lineItems = new CodedColumn('line_item')
  readonly #years = new CodedColumn('fiscal_year')
  readonly #values = new DoubleColumn('value')
  readonly #reported = new DoubleColumn('reported')
  readonly #series = new NestedSeries()
  #items = new ItemNumbers()
  /** Per item, 1 where the scale was applied. */
  #scaled: number[] = []
  #isScaled: IsScaled = () => false
  /** The meaning of places in the row group's dictionaries, and the numbers of its line items as far as they are known. */
  #unconsolidated = new Uint8Array(0)
  #yearOf: Int32Array = new Int32Array(0)
  #names: { readonly categories: readonly string[]; readonly lineItems: readonly string[] } = NO_NAMES
  readonly #numbers = new Map<number, number>()

  /** @returns the names of the figures */
  async read({ files, owners, isScaled }: FiguresRequest): Promise<ItemNames> {
    this.#series.start(owners.length)
    this.#items = new ItemNumbers()
    this.#scaled = []
    this.#isScaled = isScaled
    const places = new Map(owners.map(({ id }, place) => [id, place]))
    await this.#ranges.read(files, places, {
      readGroup: (file, group) => this.#readGroup(file, group),
      addRange: (place, start, end) => this.#addRange(place, owners[place]?.factor ?? 1, start, end),
    })
    const { names, places: ranks } = this.#items.inOrder()
    const { length } = names.items
    this.#series.renumber(
      Int32Array.from(
        { length: 2 * length },
        (_, number) => (number & 1) * length + (ranks[number >> 1] ?? 0),
      ),
    )
    return names
  }

  /** The series of the company at a place among the owners. */
  of(place: number): CompanySeries {
    return this.#series.of(place)
  }

  #readGroup(file: ParquetFile, group: RowGroup): void {
    for (const column of [this.#statements, this.#categories, this.#lineItems, this.#years])
      column.read(file, group)
    this.#values.read(file, group)
    this.#reported.read(file, group)
    this.#unconsolidated = Uint8Array.from(dictionaryStrings(this.#statements), (name) =>
      name === CONSOLIDATIONS[1].name ? 1 : 0,
    )
    this.#yearOf = dictionaryIntegers(this.#years)
    this.#names = {
      categories: dictionaryStrings(this.#categories),
      lineItems: dictionaryStrings(this.#lineItems),
    }
    this.#numbers.clear()
  }

  /** Adds rows of one company that stand together. */
  #addRange(place: number, factor: number, start: number, end: number): void {
    const at = this.#series.startRange(place, end - start)
    const { years, values, figures } = this.#series.columns
    const inRange = this.#values.values.subarray(start, end)
    values.set(inRange, at)
    figures.set(inRange, at)
    this.#putYears(start, end, years, at)
    this.#addSeries(start, end, factor, at)
    this.#putReported(start, end, figures, at)
  }

  #putYears(start: number, end: number, years: Int16Array, at: number): void {
    const { codes } = this.#years
    const yearOf = this.#yearOf
    for (let row = start, to = at; row < end; row++, to++) years[to] = yearOf[codes[row] ?? 0] ?? 0
  }

  /** Rows of one line item stand together. */
  #addSeries(start: number, end: number, factor: number, at: number): void {
    const statements = this.#statements.codes
    const categories = this.#categories.codes
    const lineItems = this.#lineItems.codes
    for (let row = start; row < end; ) {
      const first = row
      const statement = statements[row]
      const category = categories[row]
      const lineItem = lineItems[row]
      do row++
      while (
        row < end &&
        lineItems[row] === lineItem &&
        categories[row] === category &&
        statements[row] === statement
      )
      const number = this.#numberOf(category ?? 0, lineItem ?? 0)
      this.#series.addSeries(2 * number + (this.#unconsolidated[statement ?? 0] ?? 0), row - first)
      if (factor !== 1 && this.#scaled[number] === 1)
        this.#divide(at + first - start, at + row - start, factor)
    }
  }

  #divide(from: number, to: number, factor: number): void {
    const { values, figures } = this.#series.columns
    for (let row = from; row < to; row++) figures[row] = (values[row] ?? 0) / factor
  }

  /** If dividing does not restore the figure, it stands beside the value. */
  #putReported(start: number, end: number, figures: Float64Array, at: number): void {
    const { isThere, values } = this.#reported
    if (isThere === false) return
    for (let row = start, to = at; row < end; row++, to++)
      if (isThere === true || isThere[row] === 1) figures[to] = values[row] ?? 0
  }

  /** The number of a line item by the places of its names in the row group's dictionaries. */
  #numberOf(category: number, lineItem: number): number {
    const key = category * this.#lineItems.size + lineItem
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const names = [this.#names.categories[category] ?? '', this.#names.lineItems[lineItem] ?? ''] as const
    const number = this.#items.numberOf(...names)
    this.#scaled[number] ??= this.#isScaled(...names) ? 1 : 0
    this.#numbers.set(key, number)
    return number
  }
}

/** The most bytes of a headcount: `,"-32768":` and its number. */
const HEADCOUNT_BYTES = 16 + NUMBER_BYTES

/** Headcounts as JSON texts: the two series that stand in EnhancedDetails. */
export class Headcounts {
  readonly #ranges = new CompanyRanges()
  readonly #statements = new CodedColumn('consolidation')
  readonly #years = new CodedColumn('fiscal_year')
  readonly #employees = new DoubleColumn('employees')
  readonly #series = new NestedSeries()
  #seriesOf: number[] = []
  #yearOf: Int32Array = new Int32Array(0)

  /**
   * @param files in which rows of the companies may stand, beside those of others
   * @param places of the companies by their ids
   */
  read(files: readonly string[], places: ReadonlyMap<bigint, number>): Promise<void> {
    this.#series.start(places.size)
    return this.#ranges.read(files, places, {
      readGroup: (file, group) => this.#readGroup(file, group),
      addRange: (place, start, end) => this.#addRange(place, start, end),
    })
  }

  /** The series of the company at a place: their numbers are places in `CONSOLIDATIONS`. */
  of(place: number): CompanySeries {
    return this.#series.of(place)
  }

  /** Appends a company's series as texts of a row, in the order of `CONSOLIDATIONS`. */
  appendTo(series: readonly Strings[], place: number): void {
    const { count, numbers, starts, ends, years, figures } = this.#series.of(place)
    for (const [number, strings] of series.entries()) {
      for (let at = 0; at < count; at++)
        if (numbers[at] === number) appendSeries(strings, starts[at] ?? 0, ends[at] ?? 0, years, figures)
      strings.endRow()
    }
  }

  #readGroup(file: ParquetFile, group: RowGroup): void {
    for (const column of [this.#statements, this.#years, this.#employees]) column.read(file, group)
    const names: readonly string[] = CONSOLIDATIONS.map(({ name }) => name)
    this.#seriesOf = dictionaryStrings(this.#statements).map((name) => names.indexOf(name))
    this.#yearOf = dictionaryIntegers(this.#years)
  }

  #addRange(place: number, start: number, end: number): void {
    let at = this.#series.startRange(place, end - start)
    const { years, values, figures } = this.#series.columns
    values.set(this.#employees.values.subarray(start, end), at)
    figures.set(this.#employees.values.subarray(start, end), at)
    for (let row = start; row < end; row++) years[at++] = this.#yearOf[this.#years.codes[row] ?? 0] ?? 0
    const { codes } = this.#statements
    for (let row = start; row < end; ) {
      const first = row
      while (row < end && codes[row] === codes[first]) row++
      this.#series.addSeries(this.#seriesOf[codes[first] ?? 0] ?? 0, row - first)
    }
  }
}

const appendSeries = (
  { writer }: Strings,
  start: number,
  end: number,
  years: Int16Array,
  employees: Float64Array,
): void => {
  writer.reserve((end - start) * HEADCOUNT_BYTES + 1)
  const { words } = writer
  let at = writer.length
  for (let row = start; row < end; row++)
    at = writeDouble(words, writeYear(words, at, years[row] ?? 0), employees[row] ?? 0)
  // Over the comma before the first year.
  words.setUint8(writer.length, OPEN_BRACE)
  words.setUint8(at++, CLOSE_BRACE)
  writer.length = at
}

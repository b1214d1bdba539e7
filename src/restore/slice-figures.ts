/** The figures of a slice's companies out of the lake's files: of each company its series, with the names of their line items. */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { CompanyRanges } from './company-ranges.ts'
import { type IsScaled, type ItemNames, ItemNumbers } from './item-names.ts'
import { type CompanySeries, NestedSeries } from './nested-series.ts'
import { CodedColumn, DoubleColumn, dictionaryIntegers, dictionaryTexts } from './parquet/column-reader.ts'
import type { ParquetFile, RowGroup } from './parquet/parquet-file.ts'

/** A company of the slice. */
export interface Owner {
  readonly id: bigint
  /** Of its scale. */
  readonly factor: number
}

/** What is read for a slice. */
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
  /** By an item's number, 1 where the scale was applied. */
  #scaled: number[] = []
  #isScaled: IsScaled = () => false
  /** Of the row group what the places in its dictionaries mean, and the numbers of its line items as far as they are known. */
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
    this.#unconsolidated = Uint8Array.from(dictionaryTexts(this.#statements), (name) =>
      name === CONSOLIDATIONS[1].name ? 1 : 0,
    )
    this.#yearOf = dictionaryIntegers(this.#years)
    this.#names = {
      categories: dictionaryTexts(this.#categories),
      lineItems: dictionaryTexts(this.#lineItems),
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

  /** Where dividing does not give the figure back, it stands beside the value. */
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

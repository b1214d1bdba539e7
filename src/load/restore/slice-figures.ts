/** The figures of a slice's companies out of the lake's files: of each company its series, with the names of their line items. */

import { CONSOLIDATIONS } from '../../contract/dictionaries.ts'
import {
  CodedColumn,
  DoubleColumn,
  dictionaryIntegers,
  dictionaryTexts,
} from '../../lake/parquet/column-reader.ts'
import type { ParquetFile, RowGroup } from '../../lake/parquet/parquet-file.ts'
import { CompanyRanges } from './company-ranges.ts'
import { type IsScaled, type ItemNames, ItemNumbers } from './item-names.ts'
import { type CompanySeries, NestedSeries } from './nested-series.ts'

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

/** Line items of a row group by the places of their names in its dictionaries. */
interface GroupItems {
  /** Of the row's item its number among all. */
  numberAt(row: number): number
  readonly unconsolidated: Uint8Array
}

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

  /** @returns the names of the figures */
  async read({ files, owners, isScaled }: FiguresRequest): Promise<ItemNames> {
    this.#series.start(owners.length)
    this.#items = new ItemNumbers()
    this.#scaled = []
    const places = new Map(owners.map(({ id }, place) => [id, place]))
    let items = this.#itemsOf(isScaled)
    let yearOf: Int32Array = new Int32Array(0)
    await this.#ranges.read(files, places, {
      readGroup: (file, group) => {
        this.#readGroup(file, group)
        items = this.#itemsOf(isScaled)
        yearOf = dictionaryIntegers(this.#years)
      },
      addRange: (place, start, end) =>
        this.#addRange(place, owners[place]?.factor ?? 1, start, end, items, yearOf),
    })
    const { names, places: ranks } = this.#items.inOrder()
    const { length } = names.items
    this.#series.renumber((number) => (number & 1) * length + (ranks[number >> 1] ?? 0))
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
  }

  #itemsOf(isScaled: IsScaled): GroupItems {
    const [categories, lineItems] = [dictionaryTexts(this.#categories), dictionaryTexts(this.#lineItems)]
    const numbers = new Map<number, number>()
    const newNumber = (category: number, lineItem: number): number => {
      const names = [categories[category] ?? '', lineItems[lineItem] ?? ''] as const
      const number = this.#items.numberOf(...names)
      this.#scaled[number] ??= isScaled(...names) ? 1 : 0
      return number
    }
    return {
      unconsolidated: Uint8Array.from(dictionaryTexts(this.#statements), (name) =>
        name === CONSOLIDATIONS[1].name ? 1 : 0,
      ),
      numberAt: (row) => {
        const [category, lineItem] = [this.#categories.codes[row] ?? 0, this.#lineItems.codes[row] ?? 0]
        const key = category * lineItems.length + lineItem
        const known = numbers.get(key)
        if (known !== undefined) return known
        const number = newNumber(category, lineItem)
        numbers.set(key, number)
        return number
      },
    }
  }

  /** Adds rows of one company that stand together. */
  #addRange(
    place: number,
    factor: number,
    start: number,
    end: number,
    items: GroupItems,
    yearOf: Int32Array,
  ): void {
    let at = this.#series.startRange(place, end - start)
    const { years, values, figures } = this.#series.columns
    values.set(this.#values.values.subarray(start, end), at)
    const [statements, categories] = [this.#statements.codes, this.#categories.codes]
    const [lineItems, yearCodes] = [this.#lineItems.codes, this.#years.codes]
    const { isThere, values: reported } = this.#reported
    for (let row = start; row < end; ) {
      const first = row
      const [statement, category, lineItem] = [statements[row], categories[row], lineItems[row]]
      const number = items.numberAt(row)
      const isDivided = factor !== 1 && this.#scaled[number] === 1
      for (
        ;
        row < end &&
        lineItems[row] === lineItem &&
        categories[row] === category &&
        statements[row] === statement;
        row++, at++
      ) {
        years[at] = yearOf[yearCodes[row] ?? 0] ?? 0
        const value = values[at] ?? 0
        const isKept = isThere === true || (isThere !== false && isThere[row] === 1)
        figures[at] = isKept ? (reported[row] ?? 0) : isDivided ? value / factor : value
      }
      this.#series.addSeries(2 * number + (items.unconsolidated[statement ?? 0] ?? 0), row - first)
    }
  }
}

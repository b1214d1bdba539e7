/** Headcounts of a slice's companies as JSON texts: the two series that stand in EnhancedDetails. */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import type { Texts } from './column-texts.ts'
import { CompanyRanges } from './company-ranges.ts'
import { type CompanySeries, NestedSeries } from './nested-series.ts'
import { NUMBER_BYTES, writeDouble, writeYear } from './number-text.ts'
import { CodedColumn, DoubleColumn, dictionaryIntegers, dictionaryTexts } from './parquet/column-reader.ts'
import type { ParquetFile, RowGroup } from './parquet/parquet-file.ts'

const { OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

/** What a headcount takes at most: `,"-32768":` and its number. */
const HEADCOUNT_BYTES = 16 + NUMBER_BYTES

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
  appendTo(series: readonly Texts[], place: number): void {
    const { count, numbers, starts, ends, years, figures } = this.#series.of(place)
    for (const [number, texts] of series.entries()) {
      for (let at = 0; at < count; at++)
        if (numbers[at] === number) appendSeries(texts, starts[at] ?? 0, ends[at] ?? 0, years, figures)
      texts.endRow()
    }
  }

  #readGroup(file: ParquetFile, group: RowGroup): void {
    for (const column of [this.#statements, this.#years, this.#employees]) column.read(file, group)
    const names: readonly string[] = CONSOLIDATIONS.map(({ name }) => name)
    this.#seriesOf = dictionaryTexts(this.#statements).map((name) => names.indexOf(name))
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
  { writer }: Texts,
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

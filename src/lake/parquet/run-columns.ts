/** Columns in which a value stands for many rows, one behind the other: texts by codes, and ids. */

import { ByteWriter } from '../../support/byte-writer.ts'
import { bloomFilter } from './bloom-filter.ts'
import { bitsFor, Runs } from './hybrid-writer.ts'
import {
  type ColumnFacts,
  type ColumnPages,
  lengthBytes,
  NO_VALUE,
  startPage,
  type WrittenColumn,
} from './written-columns.ts'

/** A column of few values in runs: places in a dictionary. */
abstract class RunsColumn implements WrittenColumn {
  readonly #runs = new Runs()
  readonly #levels = new Runs()
  readonly #page = new ByteWriter()
  #rows = 0
  #nulls = 0

  clear(): void {
    this.#runs.clear()
    this.#levels.clear()
    this.#rows = 0
    this.#nulls = 0
  }

  /** @param place in the dictionary, or `NO_VALUE` */
  protected addRun(place: number, rows: number): void {
    this.#runs.add(place, rows)
    this.#rows += rows
    if (place === NO_VALUE) this.#nulls += rows
  }

  protected pagesOf(
    values: number,
    dictionary: Buffer,
    about: Pick<ColumnFacts, 'least' | 'greatest' | 'filter'>,
  ): ColumnPages {
    if (this.#nulls === 0) this.#levels.add(1, this.#rows)
    else this.#runs.addLevels(this.#levels)
    const page = this.#page
    startPage(page, this.#levels)
    const facts = { ...about, nulls: this.#nulls }
    if (values === 0)
      return { facts: { ...facts, distinct: undefined }, dictionary: undefined, page: page.written() }
    const width = bitsFor(values)
    page.byte(width)
    this.#runs.write(page, width)
    return { facts: { ...facts, distinct: values }, dictionary, page: page.written() }
  }

  abstract pages(): ColumnPages
}

/** Texts by codes, which stand for them in a file's rows. */
export class TextRuns extends RunsColumn {
  #textOf: (code: number) => string = String
  /** Places of codes, one more than they are; those of negative codes, which stand for texts one by one, by their text. */
  #places = new Int32Array(FIRST_CODES)
  readonly #placeOfText = new Map<string, number>()
  readonly #codes: number[] = []
  readonly #texts: Buffer[] = []

  /** @param textOf the text of a code, of the rows to come */
  start(textOf: (code: number) => string): void {
    this.clear()
    this.#textOf = textOf
  }

  override clear(): void {
    super.clear()
    for (const code of this.#codes) this.#places[code] = 0
    this.#codes.length = 0
    this.#texts.length = 0
    this.#placeOfText.clear()
  }

  /** @param code what `textOf` knows, or `NO_VALUE` */
  add(code: number, rows: number): void {
    const place = code === NO_VALUE ? NO_VALUE : ((this.#places[code] ?? 0) || this.#placeOf(code)) - 1
    this.addRun(place, rows)
  }

  /**
   * Adds the codes of series as far as their rows go, each for all rows of its series.
   * @param end of each series the row behind its last one
   * @param first the series of row `from`
   */
  addSeries(codes: Int32Array | Uint8Array, end: Uint32Array, first: number, from: number, to: number): void {
    for (let series = first, row = from; row < to; series++) {
      const stop = Math.min(end[series]!, to)
      this.add(codes[series]!, stop - row)
      row = stop
    }
  }

  #placeOf(code: number): number {
    const text = this.#textOf(code)
    if (code < 0) {
      const known = this.#placeOfText.get(text)
      if (known !== undefined) return known
    }
    const place = this.#texts.push(Buffer.from(text))
    if (code < 0) this.#placeOfText.set(text, place)
    else {
      if (code >= this.#places.length) {
        const more = new Int32Array(2 * code)
        more.set(this.#places)
        this.#places = more
      }
      this.#places[code] = place
      this.#codes.push(code)
    }
    return place
  }

  pages(): ColumnPages {
    const texts = this.#texts
    const inOrder = [...texts].sort(Buffer.compare)
    const [least, greatest] = [inOrder[0], inOrder.at(-1)].map((text) =>
      text !== undefined && text.length <= LONGEST_TEXT ? text : undefined,
    )
    return this.pagesOf(
      texts.length,
      Buffer.concat(texts.flatMap((text) => [lengthBytes(text.length), text])),
      { least, greatest, filter: undefined },
    )
  }
}
const FIRST_CODES = 1024
/** A longer one is no statistic. */
const LONGEST_TEXT = 256

/** Numbers of 64 bits, each of which stands in rows that follow one another: `internal_id`. */
export class LongRuns extends RunsColumn {
  /** Lower and upper halves. */
  #words = new Uint32Array(FIRST_LONGS)
  #values = 0

  override clear(): void {
    super.clear()
    this.#values = 0
  }

  add(low: number, high: number, rows: number): void {
    if (2 * this.#values === this.#words.length) {
      const more = new Uint32Array(2 * this.#words.length)
      more.set(this.#words)
      this.#words = more
    }
    this.#words[2 * this.#values] = low
    this.#words[2 * this.#values + 1] = high
    this.addRun(this.#values++, rows)
  }

  pages(): ColumnPages {
    const words = this.#words.subarray(0, 2 * this.#values)
    const bytes = Buffer.from(words.buffer, 0, words.byteLength)
    let [least, greatest] = [0, 0]
    for (let at = 2; at < words.length; at += 2) {
      if (isLess(words, at, least)) least = at
      if (isLess(words, greatest, at)) greatest = at
    }
    return this.pagesOf(this.#values, bytes, {
      least: Buffer.from(bytes.subarray(4 * least, 4 * least + 8)),
      greatest: Buffer.from(bytes.subarray(4 * greatest, 4 * greatest + 8)),
      filter: bloomFilter(words),
    })
  }
}
const FIRST_LONGS = 1024

/** Compares two numbers of 64 bits, with their signs. */
const isLess = (words: Uint32Array, a: number, b: number): boolean => {
  const [upper, other] = [words[a + 1]! | 0, words[b + 1]! | 0]
  return upper === other ? words[a]! < words[b]! : upper < other
}

/**
 * Columns of a row group that is being filled, each as its pages stand in a file but for their heads: a page of the
 * first version with its values, before it one of a dictionary. Their memory is used again for the next group.
 * Source: parquet-format, Encodings.md.
 */

import { ByteWriter } from '../../support/byte-writer.ts'
import { bloomFilter } from './bloom-filter.ts'
import { bitsFor, Runs, writePacked } from './hybrid-writer.ts'

/** What a file says of a column of a group. */
export interface ColumnFacts {
  /** Rows without a value. */
  readonly nulls: number
  /** Values of its dictionary; absent where it has none. */
  readonly distinct: number | undefined
  /** The smallest and the largest value, as Parquet writes it; absent where there is none, or none that is worth it. */
  readonly least: Buffer | undefined
  readonly greatest: Buffer | undefined
  /** Absent where there shall be none. */
  readonly filter: Buffer | undefined
}

/** A column's pages; their bytes stand until the column is cleared. */
export interface ColumnPages {
  readonly facts: ColumnFacts
  readonly dictionary: Buffer | undefined
  readonly page: Buffer
}

export interface WrittenColumn {
  readonly clear: () => void
  readonly pages: () => ColumnPages
}

const LENGTH_BYTES = 4
const lengthBytes = (length: number): Buffer => {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt32LE(length)
  return bytes
}

/** Begins a page: which of its rows have a value. */
const startPage = (page: ByteWriter, levels: Runs): void => {
  page.clear()
  page.append(lengthBytes(0))
  levels.write(page, 1)
  page.bytes.writeUInt32LE(page.length - LENGTH_BYTES, 0)
}

/** Of a row that has no value. */
export const NO_VALUE = -1

/** A column of few values in runs: places in a dictionary. */
abstract class RunsColumn implements WrittenColumn {
  readonly #runs = new Runs()
  readonly #levels = new Runs()
  readonly #page = new ByteWriter()
  #nulls = 0

  clear(): void {
    this.#runs.clear()
    this.#levels.clear()
    this.#nulls = 0
  }

  /** @param place in the dictionary, or `NO_VALUE` */
  protected addRun(place: number, rows: number): void {
    this.#runs.add(place, rows)
    if (place === NO_VALUE) this.#nulls += rows
  }

  protected pagesOf(
    values: number,
    dictionary: Buffer,
    about: Pick<ColumnFacts, 'least' | 'greatest' | 'filter'>,
  ): ColumnPages {
    this.#runs.addLevels(this.#levels)
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

/** Numbers of 16 bits, few different ones and another one in each row: `fiscal_year`. */
export class PackedSmalls implements WrittenColumn {
  /** Place of each number, one more than it is. */
  readonly #places = new Uint16Array(0x10000)
  readonly #values: number[] = []
  readonly #page = new ByteWriter()
  readonly #levels = new Runs()
  #codes: Uint16Array
  #rows = 0

  /** @param mostRows of a group, at most 2^16 different numbers among them */
  constructor(mostRows: number) {
    this.#codes = new Uint16Array(mostRows)
  }

  clear(): void {
    for (const value of this.#values) this.#places[value & 0xffff] = 0
    this.#values.length = 0
    this.#rows = 0
    this.#levels.clear()
  }

  add(values: Int16Array, from: number, to: number): void {
    const places = this.#places
    const codes = this.#codes
    let rows = this.#rows
    for (let at = from; at < to; at++) {
      const place = places[values[at]! & 0xffff]!
      codes[rows++] = (place === 0 ? this.#addValue(values[at]!) : place) - 1
    }
    this.#rows = rows
  }

  #addValue(value: number): number {
    const place = this.#values.push(value)
    this.#places[value & 0xffff] = place
    return place
  }

  pages(): ColumnPages {
    const values = Int32Array.from(this.#values)
    const bytes = Buffer.from(values.buffer)
    const page = this.#page
    this.#levels.add(1, this.#rows)
    startPage(page, this.#levels)
    const width = bitsFor(values.length)
    page.byte(width)
    writePacked(page, this.#codes, this.#rows, width)
    const [least, greatest] = [values.indexOf(Math.min(...values)), values.indexOf(Math.max(...values))]
    return {
      facts: {
        nulls: 0,
        distinct: values.length,
        least: bytes.subarray(4 * least, 4 * least + 4),
        greatest: bytes.subarray(4 * greatest, 4 * greatest + 4),
        filter: undefined,
      },
      dictionary: bytes,
      page: page.written(),
    }
  }
}

/** Doubles that hardly repeat, as they stand. Some rows may have none. */
export class PlainDoubles implements WrittenColumn {
  readonly #levels = new Runs()
  readonly #head = new ByteWriter()
  /** Room for a short head, and the values behind it. */
  readonly #bytes: Buffer
  readonly #values: Float64Array
  #present = 0
  #nulls = 0
  #least = Infinity
  #greatest = -Infinity

  constructor(mostRows: number) {
    const memory = new ArrayBuffer(HEAD_ROOM + 8 * mostRows)
    this.#bytes = Buffer.from(memory)
    this.#values = new Float64Array(memory, HEAD_ROOM)
  }

  clear(): void {
    this.#levels.clear()
    this.#present = 0
    this.#nulls = 0
    this.#least = Infinity
    this.#greatest = -Infinity
  }

  add(values: Float64Array, from: number, to: number): void {
    const into = this.#values
    let present = this.#present
    let least = this.#least
    let greatest = this.#greatest
    for (let at = from; at < to; at++) {
      const value = values[at]!
      into[present++] = value
      if (value < least) least = value
      if (value > greatest) greatest = value
    }
    this.#levels.add(1, to - from)
    this.#present = present
    this.#least = least
    this.#greatest = greatest
  }

  addNulls(rows: number): void {
    if (rows === 0) return
    this.#levels.add(0, rows)
    this.#nulls += rows
  }

  pages(): ColumnPages {
    const head = this.#head
    startPage(head, this.#levels)
    const end = HEAD_ROOM + 8 * this.#present
    const start = HEAD_ROOM - head.length
    if (start >= 0) this.#bytes.set(head.written(), start)
    const isNone = this.#present === 0
    return {
      facts: {
        nulls: this.#nulls,
        distinct: undefined,
        // Of zeros the smaller one and the larger one: they are equal, so either may stand there.
        least: isNone ? undefined : doubleBytes(this.#least === 0 ? -0 : this.#least),
        greatest: isNone ? undefined : doubleBytes(this.#greatest === 0 ? 0 : this.#greatest),
        filter: undefined,
      },
      dictionary: undefined,
      page:
        start >= 0
          ? this.#bytes.subarray(start, end)
          : Buffer.concat([head.written(), this.#bytes.subarray(HEAD_ROOM, end)]),
    }
  }
}
/** Whole doubles, so that the values behind them are aligned. */
const HEAD_ROOM = 16

const doubleBytes = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

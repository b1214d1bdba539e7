/** Columns of numbers that differ from row to row. */

import { ByteWriter } from '../../support/byte-writer.ts'
import { bitsFor, Runs, writePacked } from './hybrid-writer.ts'
import { type ColumnPages, startPage, type WrittenColumn } from './written-columns.ts'

/** Numbers of 16 bits, few different ones and another one in each row: `fiscal_year`. */
export class PackedSmalls implements WrittenColumn {
  /** Place of each number, one more than it is. */
  readonly #places = new Uint16Array(0x10000)
  readonly #values: number[] = []
  readonly #page = new ByteWriter()
  readonly #levels = new Runs()
  readonly #codes: Uint16Array
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

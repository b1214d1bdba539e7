/** Which rows of a record batch's column have a value: a bit a row, and none at all while no row is NULL. */

import { ByteBuffer, type Memory } from './byte-buffer.ts'

const isSet = (bits: Uint8Array, row: number): boolean => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0

/** Calls for each run of rows that are NULL. @param put first row and number, counted from `from` */
export const eachNullRun = (
  bits: Uint8Array,
  from: number,
  count: number,
  put: (at: number, rows: number) => void,
): void => {
  for (let row = 0; row < count; row++) {
    if (isSet(bits, from + row)) continue
    const start = row
    while (row < count && !isSet(bits, from + row)) row++
    put(start, row - start)
  }
}

export class Validity {
  readonly #bits: ByteBuffer
  #rows = 0
  #nulls = 0
  constructor(memory: Memory) {
    this.#bits = new ByteBuffer(memory)
  }

  append(source: Uint8Array | undefined, from: number, count: number): void {
    const before = this.#rows
    this.#rows += count
    const more = ((this.#rows + 7) >> 3) - this.#bits.size
    const { bytes, at } = this.#bits.grow(more)
    bytes.fill(0xff, at, at + more)
    if (source === undefined) return
    eachNullRun(source, from, count, (start, rows) => {
      this.#nulls += rows
      for (let row = before + start; row < before + start + rows; row++) {
        bytes[row >> 3] = (bytes[row >> 3] ?? 0) & ~(1 << (row & 7))
      }
    })
  }

  /** Arrow's buffer of validity and what goes with it; starts anew. */
  take(): {
    readonly length: number
    readonly nullCount: number
    readonly nullBitmap: Uint8Array | undefined
  } {
    const bits = this.#bits.take()
    const [length, nullCount] = [this.#rows, this.#nulls]
    // Bits behind the last row are zero, whatever the rows.
    if (length % 8 !== 0) bits[bits.length - 1] = (bits.at(-1) ?? 0) & ((1 << (length % 8)) - 1)
    this.#rows = 0
    this.#nulls = 0
    return { length, nullCount, nullBitmap: nullCount === 0 ? undefined : bits }
  }
}

/** Rows of figures that are read back from their file, as many at once as DuckDB takes. */

import { readSync } from 'node:fs'
import { CHUNK_ROWS, type Vectors } from '../../../lake/duckdb/vectors.ts'
import type { FigureColumns } from './figure-rows.ts'

export type FigureColumnName = keyof FigureColumns

/** Rows of one name in a run. */
export interface FigurePiece {
  readonly name: number
  /** Where the columns of the run begin in the file. */
  readonly at: Readonly<Record<FigureColumnName, number>>
  /** Rows of the run, and the place of the first one's earlier years: those before were taken. */
  from: number
  readonly to: number
  earlierFrom: number
}

type Column = FigureColumns[FigureColumnName]

export class FigureChunk {
  readonly #file: number
  #rows = 0
  #items = 0
  readonly #names = new Int32Array(CHUNK_ROWS)
  readonly #ids = new BigInt64Array(CHUNK_ROWS)
  readonly #values = new Float64Array(CHUNK_ROWS)
  readonly #lengths = new Int32Array(CHUNK_ROWS)
  readonly #currencies = new Int32Array(CHUNK_ROWS)
  readonly #years = new Int16Array(CHUNK_ROWS)
  readonly #latest = new Int16Array(CHUNK_ROWS)
  #earlier = new Float64Array(8 * CHUNK_ROWS)
  #isThere = new Uint8Array(8 * CHUNK_ROWS)

  constructor(file: number) {
    this.#file = file
  }

  /** Takes rows of a piece, as many as there is room for. @returns whether all are taken */
  add(piece: FigurePiece): boolean {
    const { name, at, from, to } = piece
    const rows = Math.min(CHUNK_ROWS - this.#rows, to - from)
    const first = this.#rows
    this.#names.fill(name, first, first + rows)
    this.#read(at.ids, from, this.#ids, first, rows)
    this.#read(at.values, from, this.#values, first, rows)
    this.#read(at.lengths, from, this.#lengths, first, rows)
    this.#read(at.currencies, from, this.#currencies, first, rows)
    this.#read(at.years, from, this.#years, first, rows)
    this.#read(at.latest, from, this.#latest, first, rows)
    let items = 0
    for (let row = first; row < first + rows; row++) items += this.#lengths[row] ?? 0
    this.#reserve(this.#items + items)
    this.#read(at.earlier, piece.earlierFrom, this.#earlier, this.#items, items)
    this.#read(at.isThere, piece.earlierFrom, this.#isThere, this.#items, items)
    this.#rows += rows
    this.#items += items
    piece.from += rows
    piece.earlierFrom += items
    return piece.from === to
  }

  /** Fills DuckDB's vectors, and is empty then. @returns the rows */
  handTo(vectors: Vectors): number {
    const rows = this.#rows
    if (rows === 0) return 0
    const places = new BigUint64Array(2 * rows)
    // The lower words are enough, and a bigint for each row would cost more than all else.
    const words = new Uint32Array(places.buffer)
    for (let row = 0, from = 0; row < rows; row++) {
      const length = this.#lengths[row] ?? 0
      words[4 * row] = from
      words[4 * row + 2] = length
      from += length
    }
    const valid = new Uint8Array(Math.ceil(this.#items / 64) * 8)
    for (let item = 0; item < this.#items; item++)
      if (this.#isThere[item] === 1) valid[item >> 3] = (valid[item >> 3] ?? 0) | (1 << (item & 7))
    vectors.codes(0, this.#names, rows)
    vectors.numbers(1, this.#ids, rows)
    vectors.numbers(2, this.#years, rows)
    vectors.numbers(3, this.#values, rows)
    vectors.numberLists(4, places, this.#earlier, rows, valid)
    vectors.numbers(5, this.#latest, rows)
    vectors.codes(6, this.#currencies, rows)
    this.#rows = 0
    this.#items = 0
    return rows
  }

  #reserve(items: number): void {
    if (items <= this.#earlier.length) return
    const [earlier, isThere] = [this.#earlier, this.#isThere]
    this.#earlier = new Float64Array(2 * items)
    this.#isThere = new Uint8Array(2 * items)
    this.#earlier.set(earlier)
    this.#isThere.set(isThere)
  }

  /** Reads items of a column of the file. */
  #read(columnAt: number, from: number, into: Column, at: number, count: number): void {
    const { buffer, byteOffset, BYTES_PER_ELEMENT: width } = into
    const bytes = new Uint8Array(buffer, byteOffset + at * width, count * width)
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(this.#file, bytes, done, bytes.length - done, columnAt + from * width + done)
      if (read === 0) throw new RangeError('Cannot read figures back: their file ends too early')
      done += read
    }
  }
}

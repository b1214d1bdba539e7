/**
 * The figures of all companies of a segment, aside in a file: runs of some hundred thousand rows, in each those of a name together.
 * They are read back name by name, so that DuckDB writes them once and in order, however many there are.
 */

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { ColumnTable } from '../../../lake/duckdb/column-tables.ts'
import { CHUNK_ROWS, type Vectors } from '../../../lake/duckdb/vectors.ts'
import type { CompanyPieces } from '../../../restore/restore.ts'
import { PRIVATE_FILE } from '../../../support/file-modes.ts'
import { FIGURE_NAMES } from '../index-form.ts'
import { type FigureColumns, FigureRows, type FigureRun, NO_CURRENCY } from './figure-rows.ts'

/** Rows that are held in memory by default, some twenty megabytes. */
const RUN_ROWS = 1 << 18

/** The pieces of a company that its figures are made of. */
export type FiguresOfCompany = Pick<CompanyPieces, 'id' | 'currency' | 'series' | 'headcounts' | 'names'>

/** A run in the file. */
interface WrittenRun extends Pick<FigureRun, 'starts' | 'earlierStarts'> {
  readonly at: FigurePiece['at']
}

export class FigureFile {
  readonly #file: number
  readonly #gathered = new FigureRows()
  readonly #runs: WrittenRun[] = []
  #length = 0
  #rows = 0
  readonly #currencies = new Map<string, number>()
  #open = true

  readonly #runRows: number

  /** @param runRows a run ends behind the company that reaches them */
  constructor(path: string, runRows = RUN_ROWS) {
    this.#runRows = runRows
    this.#file = openSync(path, 'wx+', PRIVATE_FILE)
  }

  add(company: FiguresOfCompany): void {
    this.#gathered.add(company, this.#codeOf(company.currency))
    if (this.#gathered.rows >= this.#runRows) this.#writeRun()
  }

  /** The rows: those of one name in the order in which their companies came. Nothing is to be added any more. */
  table(): ColumnTable {
    if (this.#gathered.rows > 0) this.#writeRun()
    const currencies = [...this.#currencies.keys()].map((text): string => JSON.parse(text))
    return {
      columns: [
        { name: 'line_item', type: { values: FIGURE_NAMES, textOf: (code) => FIGURE_NAMES[code] ?? '' } },
        { name: 'internal_id', type: 'BIGINT' },
        { name: 'fiscal_year', type: 'SMALLINT' },
        { name: 'value', type: 'DOUBLE' },
        { name: 'earlier', type: 'DOUBLE[]' },
        { name: 'latest', type: 'SMALLINT' },
        { name: 'currency', type: { values: currencies, textOf: (code) => currencies[code] ?? '' } },
      ],
      rows: this.#rows,
      read: () => {
        const pieces = this.#pieces()
        const chunk = new FigureChunk(this.#file)
        let piece = pieces.next()
        return (vectors) => {
          while (piece.done !== true && chunk.add(piece.value)) piece = pieces.next()
          return chunk.handTo(vectors)
        }
      },
    }
  }

  close(): void {
    if (this.#open) closeSync(this.#file)
    this.#open = false
  }

  #codeOf(currency: Uint8Array | undefined): number {
    if (currency === undefined) return NO_CURRENCY
    const text = Buffer.from(currency).toString()
    const known = this.#currencies.get(text)
    if (known !== undefined) return known
    this.#currencies.set(text, this.#currencies.size)
    return this.#currencies.size - 1
  }

  #writeRun(): void {
    const { starts, earlierStarts, columns } = this.#gathered.run()
    const write = (name: FigureColumnName): number => {
      const at = this.#length
      const { buffer, byteOffset, byteLength } = columns[name]
      const bytes = new Uint8Array(buffer, byteOffset, byteLength)
      // A write may take only a part, also just before the disk is full.
      for (let done = 0; done < byteLength; ) done += writeSync(this.#file, bytes, done)
      this.#length += byteLength
      return at
    }
    this.#runs.push({
      ...{ starts, earlierStarts },
      at: {
        ids: write('ids'),
        values: write('values'),
        earlier: write('earlier'),
        lengths: write('lengths'),
        currencies: write('currencies'),
        years: write('years'),
        latest: write('latest'),
        isThere: write('isThere'),
      },
    })
    this.#rows += this.#gathered.rows
    this.#gathered.clear()
  }

  /** The rows of each name, in one run after the other. */
  *#pieces(): Generator<FigurePiece> {
    for (let name = 0; name < FIGURE_NAMES.length; name++)
      for (const { starts, earlierStarts, at } of this.#runs) {
        const [from = 0, to = 0] = [starts[name], starts[name + 1]]
        if (from < to) yield { name, at, from, to, earlierFrom: earlierStarts[name] ?? 0 }
      }
  }
}

// Rows of figures that are read back from their file, as many at once as DuckDB takes.

export type FigureColumnName = keyof FigureColumns

/** Rows of one name in a run. */
export interface FigurePiece {
  readonly name: number
  /** Offset of the run's columns in the file. */
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

/**
 * The figures of all companies of a segment, aside in a file: runs of some hundred thousand rows, in each those of a name together.
 * They are read back name by name, so that DuckDB writes them once and in order, however many there are.
 */

import { closeSync, openSync, writeSync } from 'node:fs'
import type { ColumnTable } from '../../../lake/duckdb/column-tables.ts'
import type { CompanyPieces } from '../../../restore/restore.ts'
import { PRIVATE_FILE } from '../../../support/file-modes.ts'
import { FIGURE_NAMES } from '../index-form.ts'
import { FigureChunk, type FigureColumnName, type FigurePiece } from './figure-chunk.ts'
import { FigureRows, type FigureRun, NO_CURRENCY } from './figure-rows.ts'

/** Rows that are held in memory by default, some twenty megabytes. */
const RUN_ROWS = 1 << 18

/** What is taken of a company. */
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

  /** All rows: those of one name in the order in which their companies came. Nothing is to be added any more. */
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
      // One call may take only a part, also just before the disk is full.
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

  /** Of each name its rows in one run after the other. */
  *#pieces(): Generator<FigurePiece> {
    for (let name = 0; name < FIGURE_NAMES.length; name++)
      for (const { starts, earlierStarts, at } of this.#runs) {
        const [from = 0, to = 0] = [starts[name], starts[name + 1]]
        if (from < to) yield { name, at, from, to, earlierFrom: earlierStarts[name] ?? 0 }
      }
  }
}

/**
 * The figures of the record at hand: its line and their columns in WebAssembly's memory, where they are read and scaled
 * (`wasm/record-figures.ts`). What a record leaves goes into the columns of its block when it ends.
 */

import { COLUMNS_AT, type FigureCode, FigureMemory } from './figure-memory.ts'
import type { SeriesRows } from './series-rows.ts'

/** The line of the record at hand. */
class FigureLine {
  readonly memory = new FigureMemory()
  #line: Buffer = Buffer.alloc(0)
  /** Where it begins in its block, and in the code's memory; -1 as long as it was not needed there. */
  #start = 0
  #at = -1

  start(buffer: Buffer, from: number, to: number): void {
    this.#line = buffer.subarray(from, to)
    this.#start = from
    this.#at = -1
  }

  /** A position of the block in the code's memory. */
  in(position: number): number {
    if (this.#at < 0) this.#at = this.memory.take(this.#line)
    return this.#at + position - this.#start
  }

  /** A position in the code's memory in the block. */
  out(position: number): number {
    return this.#start + position - this.#at
  }
}

/** Time series of the record at hand: its headcounts, or those of its statements. */
export class RecordSeries {
  readonly #line: FigureLine
  readonly #code: FigureCode
  /** Where its counts and the places of its columns stand, in the code's memory. */
  readonly #rows: number

  constructor(line: FigureLine, rows: number) {
    this.#line = line
    this.#code = line.memory.code
    this.#rows = rows
  }

  clear(): void {
    this.#line.memory.words.fill(0, this.#rows / 4, this.#rows / 4 + COLUMNS_AT)
  }

  /**
   * Appends the rows of a series in the plain form, which is not empty; `open` is its brace.
   * @returns its end; 0 where it has another form, and then no row is appended
   */
  readSeries(open: number): number {
    const end = this.#code.readSeries(this.#line.in(open), this.#rows)
    return end === 0 ? 0 : this.#line.out(end)
  }

  /** Appends a figure whose text begins at `position` of the block. */
  addText(year: number, position: number): void {
    this.#code.addText(this.#rows, year, this.#line.in(position))
  }

  /** Ends a series of figures; one without any is none. */
  endSeries(statement: number, category: number, lineItem: number): void {
    this.#code.endSeries(this.#rows, statement, category, lineItem)
  }

  /**
   * Ends the record: each figure gets its value, the double nearest to the exact product of its decimal and the scale.
   *
   * @param power of the record's scale: 0 to 9
   * @returns the first row whose value is larger than any number, -1 where there is none
   */
  endRecord(power: number): number {
    return this.#code.endRecord(this.#rows, power)
  }

  /** Appends the record's rows to those of its block. */
  appendTo(block: SeriesRows): void {
    const { words } = this.#line.memory
    const [rows, series, kept] = [this.#word(0), this.#word(1), this.#word(2)]
    if (rows === 0) return
    const { buffer } = words
    block.append({
      year: new Int16Array(buffer, this.#word(3), rows),
      value: new Float64Array(buffer, this.#word(4), rows),
      end: new Uint32Array(buffer, this.#word(6), series),
      statement: new Uint8Array(buffer, this.#word(7), series),
      category: new Int32Array(buffer, this.#word(8), series),
      lineItem: new Int32Array(buffer, this.#word(9), series),
      keptRow: new Uint32Array(buffer, this.#word(10), kept),
      keptFigure: new Float64Array(buffer, this.#word(11), kept),
    })
  }

  /** A field of `Rows`, by its place. */
  #word(field: number): number {
    return this.#line.memory.words[this.#rows / 4 + field]!
  }
}

/** The figures of the record at hand. */
export class RecordFigures {
  readonly #line = new FigureLine()
  readonly #code = this.#line.memory.code
  /** Those of its statements. */
  readonly figures = new RecordSeries(this.#line, this.#code.FIGURES.value)
  readonly headcounts = new RecordSeries(this.#line, this.#code.HEADCOUNTS.value)

  /** Begins the record whose line stands in a buffer. */
  start(buffer: Buffer, from: number, to: number): void {
    this.#line.start(buffer, from, to)
    this.figures.clear()
    this.headcounts.clear()
  }

  /**
   * Appends the figures of a statement in the plain form; `open` is its brace.
   * @returns its end; 0 where it has another form, and then no row is appended
   */
  readStatement(open: number, statement: number): number {
    const end = this.#code.readStatement(this.#line.in(open), statement)
    return end === 0 ? 0 : this.#line.out(end)
  }
}

let ofThread: RecordFigures | undefined

/**
 * One for all checkers of a thread: a record is checked to its end before another one begins. Memory of each would take room
 * until it is collected, and code that is called for all of them is compiled once.
 */
export const figuresOfThread = (): RecordFigures => {
  ofThread ??= new RecordFigures()
  return ofThread
}

/** The records of a block and their figures in columns: what a check leaves of them beside the block's bytes. */

import { type ColumnsMessage, GrowingColumns } from './growing-columns.ts'
import { RecordRows } from './record-rows.ts'
import type { NameSets } from './seen-sets.ts'
import { SeriesRows } from './series-rows.ts'

/** A record that passed the checks. Names are codes, see `namesOf`. */
export interface RecordRow {
  /** As written, without quotes. */
  readonly id: string
  /** Offset of its line, and of the next one. */
  readonly start: number
  readonly next: number
  readonly country: number
  readonly currency: number
  readonly extra: string | undefined
  /** The latest stamp in it, in milliseconds since 1970; 0: none. */
  readonly stamp: number
}

/** The rows as they pass between threads. */
export interface BlockMessage {
  readonly tables: readonly ColumnsMessage[]
  readonly extras: Map<number, string>
  readonly hasOdd: boolean
}

export class BlockRows {
  /** The names that codes stand for, as far as these are not places in the block's bytes. */
  readonly names: NameSets
  /** `figuresEnd` and `headcountsEnd` are the rows of figures and of headcounts up to the end of the record. */
  readonly records = new GrowingColumns({
    id: BigInt64Array,
    country: Int32Array,
    currency: Int32Array,
    start: Uint32Array,
    next: Uint32Array,
    figuresEnd: Uint32Array,
    headcountsEnd: Uint32Array,
    stamp: Float64Array,
  })
  readonly figures = new SeriesRows()
  readonly headcounts = new SeriesRows()
  readonly objects = new RecordRows()
  /** `extra` column by record, for the records that have one. */
  extras = new Map<number, string>()
  readonly #tables: readonly GrowingColumns[] = [
    this.records,
    ...this.figures.tables,
    ...this.headcounts.tables,
    ...this.objects.tables,
  ]

  constructor(names: NameSets) {
    this.names = names
  }

  clear(): void {
    for (const table of this.#tables) table.clear()
    this.objects.hasOdd = false
    this.extras.clear()
  }

  toMessage(): BlockMessage {
    const { extras, objects } = this
    return { tables: this.#tables.map((table) => table.toMessage()), extras, hasOdd: objects.hasOdd }
  }

  /** Takes the rows of another thread in place of its own. */
  adopt({ tables, extras, hasOdd }: BlockMessage): void {
    for (const [at, table] of this.#tables.entries()) table.adopt(tables[at]!)
    this.objects.hasOdd = hasOdd
    this.extras = extras
  }

  /** Begins a record, which may have figures in so many bytes. */
  startRecord(figureBytes: number): void {
    for (const table of this.#tables) table.startRecord()
    this.objects.startRecord()
    if (figureBytes === 0) return
    this.figures.reserveRecord(figureBytes)
    this.headcounts.reserveRecord(figureBytes)
  }

  /** Drops the rows of the record at hand. */
  dropRecord(): void {
    for (const table of this.#tables) table.dropRecord()
  }

  /** Takes the record at hand in, with the rows that it has. @returns its number in the block */
  addRecord({ id, start, next, country, currency, extra, stamp }: RecordRow): number {
    const record = this.records.startRow()
    const { columns } = this.records
    columns.id[record] = BigInt(id)
    columns.country[record] = country
    columns.currency[record] = currency
    columns.start[record] = start
    columns.next[record] = next
    columns.stamp[record] = stamp
    columns.figuresEnd[record] = this.figures.figures.length
    columns.headcountsEnd[record] = this.headcounts.figures.length
    if (extra !== undefined) this.extras.set(record, extra)
    return record
  }
}

/** The records of a block and their figures in columns: what a check leaves of them beside the block's bytes. */

import { type RecordColumns, RecordRows } from './record-rows.ts'
import type { NameSets } from './seen-sets.ts'
import { type SeriesColumns, SeriesRows } from './series-rows.ts'
import { grown } from './shared-columns.ts'

const FIRST_RECORDS = 256

/** A record that passed the checks. Names are codes, see `NameCodes`. */
export interface RecordRow {
  /** As written, without quotes. */
  readonly id: string
  /** Where its line begins, and where the next one does. */
  readonly start: number
  readonly next: number
  readonly country: number
  readonly currency: number
  readonly extra: string | undefined
}

/** The columns as they pass between threads: their memory is shared. */
export type BlockColumns = Pick<
  BlockRows,
  'records' | 'id' | 'country' | 'currency' | 'start' | 'next' | 'figuresEnd' | 'headcountsEnd' | 'extras'
> & {
  readonly figures: SeriesColumns
  readonly headcounts: SeriesColumns
  readonly objects: RecordColumns
}

export class BlockRows {
  /** What the codes of names stand for, as far as they are not places in the block's bytes. */
  readonly names: NameSets
  readonly figures = new SeriesRows()
  readonly headcounts = new SeriesRows()
  readonly objects = new RecordRows()
  records = 0
  id = new BigInt64Array(0)
  country = new Int32Array(0)
  currency = new Int32Array(0)
  start = new Uint32Array(0)
  next = new Uint32Array(0)
  /** Rows of figures and of headcounts up to the end of each record. */
  figuresEnd = new Uint32Array(0)
  headcountsEnd = new Uint32Array(0)
  /** `extra` column by record, for the records that have one. */
  extras = new Map<number, string>()

  constructor(names: NameSets) {
    this.names = names
  }

  clear(): void {
    this.records = 0
    this.figures.clear()
    this.headcounts.clear()
    this.objects.clear()
    this.extras.clear()
  }

  columns(): BlockColumns {
    const { records, id, country, currency, start, next, figuresEnd, headcountsEnd, extras } = this
    return {
      ...{ records, id, country, currency, start, next, figuresEnd, headcountsEnd, extras },
      figures: this.figures.columns(),
      headcounts: this.headcounts.columns(),
      objects: this.objects.columns(),
    }
  }

  /** Takes columns of another thread in place of its own. */
  adopt({ figures, headcounts, objects, ...columns }: BlockColumns): void {
    this.figures.adopt(figures)
    this.headcounts.adopt(headcounts)
    this.objects.adopt(objects)
    Object.assign(this, columns)
  }

  /** Begins a record whose line has `sizeBytes`. */
  startRecord(sizeBytes: number): void {
    this.figures.startRecord(sizeBytes)
    this.headcounts.startRecord(sizeBytes)
  }

  /** Takes back the rows of the record at hand. */
  dropRecord(): void {
    this.figures.dropRecord()
    this.headcounts.dropRecord()
    this.objects.dropRecord()
  }

  /** Takes the record at hand in, with the rows that it has. @returns its number in the block */
  addRecord({ id, start, next, country, currency, extra }: RecordRow): number {
    const record = this.records++
    if (record >= this.id.length) this.#grow(Math.max(record + 1, FIRST_RECORDS))
    this.id[record] = BigInt(id)
    this.country[record] = country
    this.currency[record] = currency
    this.start[record] = start
    this.next[record] = next
    this.figuresEnd[record] = this.figures.rows
    this.headcountsEnd[record] = this.headcounts.rows
    if (extra !== undefined) this.extras.set(record, extra)
    return record
  }

  #grow(records: number): void {
    this.id = grown(BigInt64Array, this.id, records)
    this.country = grown(Int32Array, this.country, this.id.length)
    this.currency = grown(Int32Array, this.currency, this.id.length)
    this.start = grown(Uint32Array, this.start, this.id.length)
    this.next = grown(Uint32Array, this.next, this.id.length)
    this.figuresEnd = grown(Uint32Array, this.figuresEnd, this.id.length)
    this.headcountsEnd = grown(Uint32Array, this.headcountsEnd, this.id.length)
  }
}

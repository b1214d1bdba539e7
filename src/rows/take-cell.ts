/** Takes a checked value of a row's field into the row: read once, while the checker stands on it. */

import type { DateTimeField, Field, TextField } from '../contract/fields.ts'
import { PROTECTED_IDENTITY } from '../contract/objects.ts'
import { instantUntil } from '../support/instants.ts'
import { isOddJson, maskedJson, numberOf, wholeOf } from './cell-values.ts'
import { InstantReader } from './read-instant.ts'
import type { RecordRows } from './record-rows.ts'
import { ESCAPED, MASKED, ODD, REPORTED, VALUE } from './row-columns.ts'

const LETTER_T = 0x74
const TWO_32 = 0x100000000

const MASK_LENGTH = JSON.stringify(PROTECTED_IDENTITY).length

const DAY_LENGTH = '"2026-01-31"'.length
const DAY_MS = 86_400_000

export class CellTaker {
  /** The latest stamp since it was set, in milliseconds since 1970; 0: none. */
  stamp = 0
  readonly #stampsUntil: number
  readonly #instant = new InstantReader()
  readonly #number = new Float64Array(1)
  readonly #whole = new BigInt64Array(this.#number.buffer)
  /** Both as two words. */
  readonly #words = new Uint32Array(this.#number.buffer)

  /** @param stampsUntil stamps that are later are left out, in milliseconds since 1970 */
  constructor(stampsUntil = Number.POSITIVE_INFINITY) {
    this.#stampsUntil = stampsUntil
  }

  /** Takes the value, not null, of the field at `place` in its table, whose JSON stands in `block` from `from` to `to`. */
  take(rows: RecordRows, field: Field, place: number, block: Buffer, from: number, to: number): void {
    switch (field.kind) {
      case 'date-time':
        this.#takeInstant(rows, field, place, block, from, to)
        return
      case 'integer':
        this.#takeWhole(rows, field, place, block, from, to)
        return
      case 'number':
        this.#number[0] = numberOf(block, from, to)
        rows.cell(place, this.#words[0]!, this.#words[1]!)
        return
      case 'boolean':
        rows.cell(place, block[from] === LETTER_T ? 1 : 0, 0)
        return
      case 'text':
        this.takeText(rows, field, place, block, from, to, true)
        return
      default:
        takeList(rows, field, place, block, from, to)
    }
  }

  /** As `take`, of a text, which may be written with escapes or surely is not. */
  takeText(
    rows: RecordRows,
    { masked }: TextField,
    place: number,
    block: Buffer,
    from: number,
    to: number,
    mayBeEscaped: boolean,
  ): void {
    const mayBeMasked = masked === true && (mayBeEscaped || to - from === MASK_LENGTH)
    if (mayBeMasked && maskedJson(block, from, to) !== undefined) takeMasked(rows, place, block, from, to)
    else if (mayBeEscaped) rows.cell(place | ESCAPED, from, to)
    else rows.cell(place | VALUE, from + 1, to - 1)
  }

  #takeInstant(
    rows: RecordRows,
    { isDay, isStamp }: DateTimeField,
    place: number,
    block: Buffer,
    from: number,
    to: number,
  ): void {
    const form = this.#instant.read(block, from + 1, to - 1, isDay)
    if (form === 'absent') return
    if (form === 'other') {
      if (isStamp) this.#noteText(block.toString('latin1', from + 1, to - 1))
      rows.oddCell(place | ODD, from, to)
      return
    }
    if (isStamp) {
      const at = Math.floor((this.#instant.high * TWO_32 + this.#instant.low) / 1000)
      // Without a time of day it is the end of its day, of a day that has not ended this moment.
      if (to - from > DAY_LENGTH) this.#note(at)
      else if (at <= this.#stampsUntil) this.#note(Math.min(at + DAY_MS - 1, this.#stampsUntil))
    }
    rows.cell(place | VALUE, this.#instant.low, this.#instant.high)
    if (form === 'unlike') rows.cell(place | REPORTED, from, to)
  }

  /** A stamp in a form that is left to DuckDB. */
  #noteText(text: string): void {
    const instant = instantUntil(text, this.#stampsUntil)
    if (instant !== undefined) this.#note(Date.parse(instant))
  }

  #note(stamp: number): void {
    if (stamp > this.stamp && stamp <= this.#stampsUntil) this.stamp = stamp
  }

  /** If the service omits a 0, one that is sent means the same as none. */
  #takeWhole(
    rows: RecordRows,
    { omitted }: Field,
    place: number,
    block: Buffer,
    from: number,
    to: number,
  ): void {
    const value = wholeOf(block, from, to)
    if (typeof value === 'number') {
      if (value === 0 && omitted === 'zero') return
      const high = Math.floor(value / TWO_32)
      rows.cell(place, value - high * TWO_32, high)
      return
    }
    this.#whole[0] = value
    rows.cell(place, this.#words[0]!, this.#words[1]!)
  }
}

/** A list stays where it is; one that came masked is marked. */
const takeList = (
  rows: RecordRows,
  field: Field,
  place: number,
  block: Buffer,
  from: number,
  to: number,
): void => {
  const isMasked = 'masked' in field && field.masked === true && maskedJson(block, from, to) !== undefined
  if (isMasked) takeMasked(rows, place, block, from, to)
  else rows.cell(place | VALUE, from, to)
}

const takeMasked = (rows: RecordRows, place: number, block: Buffer, from: number, to: number): void => {
  if (isOddJson(block.toString('utf8', from, to))) rows.oddCell(place | MASKED, from, to)
  else rows.cell(place | MASKED, from, to)
}

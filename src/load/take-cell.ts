/** Takes a checked value of a row's field into the row: read once, while the checker stands on it. */

import type { Field } from '../contract/fields.ts'
import { numberOf, wholeOf } from './cell-values.ts'
import { isOddJson, maskedJson } from './masked-json.ts'
import { InstantReader } from './read-instant.ts'
import type { RelationRows } from './relation-rows.ts'
import { MASKED, ODD, REPORTED, VALUE } from './row-forms.ts'

const LETTER_T = 0x74
const TWO_32 = 0x100000000

export class CellTaker {
  readonly #instant = new InstantReader()
  readonly #number = new Float64Array(1)
  readonly #whole = new BigInt64Array(this.#number.buffer)
  /** Both as two words. */
  readonly #words = new Uint32Array(this.#number.buffer)

  /** Takes the value, not null, of the field at `place` in its table, whose JSON stands in `block` from `from` to `to`. */
  take(rows: RelationRows, field: Field, place: number, block: Buffer, from: number, to: number): void {
    switch (field.kind) {
      case 'date-time':
        this.#takeInstant(rows, place, block, from, to)
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
      default:
        takePlace(rows, field, place, block, from, to)
    }
  }

  #takeInstant(rows: RelationRows, place: number, block: Buffer, from: number, to: number): void {
    const form = this.#instant.read(block, from + 1, to - 1)
    if (form === 'absent') return
    if (form === 'other') {
      rows.oddCell(place | ODD, from, to)
      return
    }
    rows.cell(place | VALUE, this.#instant.low, this.#instant.high)
    if (form === 'unlike') rows.cell(place | REPORTED, from, to)
  }

  /** Where the service omits a 0, one that is sent means the same as none. */
  #takeWhole(
    rows: RelationRows,
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

/** A text or a list stays where it is; one that came masked is told from the others. */
const takePlace = (
  rows: RelationRows,
  field: Field,
  place: number,
  block: Buffer,
  from: number,
  to: number,
): void => {
  const json = 'masked' in field && field.masked === true ? maskedJson(block, from, to) : undefined
  if (json === undefined) rows.cell(place | VALUE, from, to)
  else if (isOddJson(json)) rows.oddCell(place | MASKED, from, to)
  else rows.cell(place | MASKED, from, to)
}

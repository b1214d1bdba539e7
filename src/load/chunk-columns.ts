/** Columns of a chunk of rows: one class a kind. A row of which nothing is set is NULL. Knows no fields and no tables. */

import type { ColumnDeclaration } from '../lake/duckdb/column-tables.ts'
import { TextCells } from '../lake/duckdb/text-cells.ts'
import { CHUNK_ROWS, type Vectors } from '../lake/duckdb/vectors.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'

export abstract class ChunkColumn {
  readonly name: string
  abstract readonly type: ColumnDeclaration['type']
  /** A bit a row. */
  protected readonly valid = new Uint8Array(CHUNK_ROWS / 8)

  constructor(name: string) {
    this.name = name
  }

  /** Forgets all rows. */
  clear(): void {
    this.valid.fill(0)
  }

  isSet(row: number): boolean {
    return (this.valid[row >> 3]! & (1 << (row & 7))) !== 0
  }

  /** Adds the rows that are set to those of a bit a row. */
  addSet(rows: Uint8Array): void {
    const { valid } = this
    for (let at = 0; at < valid.length; at++) rows[at]! |= valid[at]!
  }

  protected mark(row: number): void {
    this.valid[row >> 3]! |= 1 << (row & 7)
  }

  /** Hands the rows to the column that is `at` that place of its table. */
  abstract give(vectors: Vectors, at: number, rows: number): void
}

/** Values of 64 bits, as their lower and their upper half. */
export class WordsColumn extends ChunkColumn {
  readonly type: 'BIGINT' | 'TIMESTAMPTZ' | 'DOUBLE'
  readonly #values = new BigInt64Array(CHUNK_ROWS)
  readonly #words = new Uint32Array(this.#values.buffer)

  constructor(name: string, type: 'BIGINT' | 'TIMESTAMPTZ' | 'DOUBLE' = 'BIGINT') {
    super(name)
    this.type = type
  }

  set(row: number, low: number, high: number): void {
    this.#words[row * 2] = low
    this.#words[row * 2 + 1] = high
    this.mark(row)
  }

  setBig(row: number, value: bigint): void {
    this.#values[row] = value
    this.mark(row)
  }

  give(vectors: Vectors, at: number, rows: number): void {
    vectors.numbersOrNull(at, this.#values, this.valid, rows)
  }
}

export class SmallColumn extends ChunkColumn {
  readonly type = 'INTEGER'
  readonly #values = new Int32Array(CHUNK_ROWS)

  set(row: number, value: number): void {
    this.#values[row] = value
    this.mark(row)
  }

  give(vectors: Vectors, at: number, rows: number): void {
    vectors.numbersOrNull(at, this.#values, this.valid, rows)
  }
}

export class BooleanColumn extends ChunkColumn {
  readonly type = 'BOOLEAN'
  readonly #values = new Uint8Array(CHUNK_ROWS)

  set(row: number, value: boolean): void {
    this.#values[row] = value ? 1 : 0
    this.mark(row)
  }

  isTrue(row: number): boolean {
    return this.isSet(row) && this.#values[row] === 1
  }

  give(vectors: Vectors, at: number, rows: number): void {
    vectors.numbersOrNull(at, this.#values, this.valid, rows)
  }
}

export class StringsColumn extends ChunkColumn {
  readonly type = 'VARCHAR'
  readonly #strings = new TextCells(CHUNK_ROWS)

  override clear(): void {
    super.clear()
    this.#strings.clear()
  }

  set(row: number, bytes: Buffer, from = 0, to = bytes.length): void {
    this.#strings.set(row, bytes, from, to)
    this.mark(row)
  }

  give(vectors: Vectors, at: number, rows: number): void {
    vectors.strings(at, { strings: this.#strings, valid: this.valid }, rows)
  }
}

type Scalar = 'BIGINT' | 'INTEGER' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMPTZ' | 'VARCHAR' | 'VARCHAR[]'
const isScalar = (type: ColumnDeclaration['type']): type is Scalar => typeof type === 'string'

/** Structs of the rows of some columns; NULL where no member has a value. */
export class StructColumn extends ChunkColumn {
  readonly type: ColumnDeclaration['type']
  readonly #members: readonly ChunkColumn[]

  constructor(name: string, members: readonly ChunkColumn[]) {
    super(name)
    this.#members = members
    this.type = {
      members: members.map(({ name: member, type }) => {
        if (!isScalar(type)) throw new TypeError(`Cannot make "${member}" a member of structs`)
        return { name: member, type }
      }),
    }
  }

  override clear(): void {
    super.clear()
    for (const member of this.#members) member.clear()
  }

  give(vectors: Vectors, at: number, rows: number): void {
    for (const member of this.#members) member.addSet(this.valid)
    const inner = vectors.structs(at, this.valid, rows)
    for (const [place, member] of this.#members.entries()) member.give(inner, place, rows)
  }
}

/** Lists of texts, or of structs of texts. Items are added to the row that was begun last; rows come in their order. */
export class ListColumn extends ChunkColumn {
  readonly type: ColumnDeclaration['type']
  readonly #fields: readonly { readonly strings: TextCells; valid: Uint8Array }[]
  readonly #places = new BigUint64Array(2 * CHUNK_ROWS)
  /** Their lower halves; the upper ones are 0. */
  readonly #words = new Uint32Array(this.#places.buffer)
  #items = 0
  #row = 0

  /** @param fields of its structs; absent for a list of texts */
  constructor(name: string, fields?: readonly string[]) {
    super(name)
    this.type = fields === undefined ? 'VARCHAR[]' : { fields }
    this.#fields = (fields ?? ['']).map(() => ({
      strings: new TextCells(CHUNK_ROWS),
      valid: new Uint8Array(CHUNK_ROWS / 8),
    }))
  }

  override clear(): void {
    super.clear()
    this.#words.fill(0)
    this.#items = 0
    for (const { strings, valid } of this.#fields) {
      strings.clear()
      valid.fill(0)
    }
  }

  /** Begins the list of a row, or begins it anew. */
  startList(row: number): void {
    this.#row = row
    if (this.isSet(row)) this.#items = this.#words[row * 4]!
    this.#words[row * 4] = this.#items
    this.#words[row * 4 + 2] = 0
    this.mark(row)
  }

  /** Begins an item, whose texts are NULL. */
  startItem(): void {
    const item = this.#items++
    this.#words[this.#row * 4 + 2]!++
    for (const field of this.#fields) {
      if (item >> 3 >= field.valid.length) {
        const longer = new Uint8Array(2 * field.valid.length)
        longer.set(field.valid)
        field.valid = longer
      }
      field.valid[item >> 3]! &= ~(1 << (item & 7))
    }
  }

  /** Sets a text of the item at hand. */
  set(field: number, bytes: Buffer, from = 0, to = bytes.length): void {
    const { strings, valid } = this.#fields[field]!
    const item = this.#items - 1
    strings.set(item, bytes, from, to)
    valid[item >> 3]! |= 1 << (item & 7)
  }

  give(vectors: Vectors, at: number, rows: number): void {
    const [strings] = this.#fields
    if (this.type === 'VARCHAR[]' && strings !== undefined)
      vectors.textLists(at, this.#places, this.valid, rows, strings, this.#items)
    else vectors.structLists(at, this.#places, this.valid, rows, this.#fields, this.#items)
  }
}

const { COMMA, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES
const FIRST_BYTES = 4096
/** More is not kept from chunk to chunk. */
const MOST_KEPT_BYTES = 4 * 1024 ** 2

/** A member's name as it stands in an object, with its colon. */
export const memberName = (name: string): Buffer => Buffer.from(`${JSON.stringify(name)}:`)

/** A member that was found: where its bytes stand, and its place among the others. */
interface Member {
  readonly row: number
  readonly place: number
  readonly from: number
  readonly to: number
}

/** Objects of these members, or of one member `within` that is such an object; NULL for rows without any. */
export class MembersColumn extends ChunkColumn {
  readonly type = 'VARCHAR'
  readonly #before: Buffer
  readonly #depth: number
  readonly #strings = new TextCells(CHUNK_ROWS)
  /** In the order of their rows. */
  readonly #members: Member[] = []
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #used = 0

  constructor(name: string, within?: string) {
    super(name)
    this.#before = Buffer.concat([
      Buffer.of(OPEN_BRACE),
      ...(within === undefined ? [] : [memberName(within), Buffer.of(OPEN_BRACE)]),
    ])
    this.#depth = within === undefined ? 1 : 2
  }

  override clear(): void {
    super.clear()
    this.#strings.clear()
    this.#members.length = 0
    this.#used = 0
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  }

  /** Gives the row that others have not gone past a member, whose JSON stands in `bytes`. */
  add(row: number, place: number, name: Buffer, bytes: Buffer, start = 0, end = bytes.length): void {
    const from = this.#used
    this.#append(name, 0, name.length)
    this.#append(bytes, start, end)
    this.#members.push({ row, place, from, to: this.#used })
    this.mark(row)
  }

  give(vectors: Vectors, at: number, rows: number): void {
    const members = this.#members
    for (let first = 0; first < members.length; ) {
      const { row } = members[first]!
      let behind = first
      while (members[behind]?.row === row) behind++
      this.#setObject(row, members.slice(first, behind))
      first = behind
    }
    vectors.strings(at, { strings: this.#strings, valid: this.valid }, rows)
  }

  #setObject(row: number, members: Member[]): void {
    members.sort((a, b) => a.place - b.place)
    const start = this.#used
    this.#append(this.#before, 0, this.#before.length)
    for (const [at, { from, to }] of members.entries()) {
      if (at > 0) this.#append(COMMAS, 0, 1)
      this.#append(this.#bytes, from, to)
    }
    this.#append(BRACES, 0, this.#depth)
    this.#strings.set(row, this.#bytes, start, this.#used)
  }

  #append(bytes: Buffer, from: number, to: number): void {
    const end = this.#used + to - from
    if (end > this.#bytes.length) {
      const longer = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#bytes.length))
      this.#bytes.copy(longer, 0, 0, this.#used)
      this.#bytes = longer
    }
    const target = this.#bytes
    for (let at = this.#used, byte = from; byte < to; at++, byte++) target[at] = bytes[byte]!
    this.#used = end
  }
}
const COMMAS = Buffer.of(COMMA)
const BRACES = Buffer.of(CLOSE_BRACE, CLOSE_BRACE)

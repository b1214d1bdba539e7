/** A column of JSON objects that some rows have, made of members as they are found. */

import { TextCells } from '../lake/duckdb/text-cells.ts'
import { CHUNK_ROWS, type Vectors } from '../lake/duckdb/vectors.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { ChunkColumn } from './chunk-columns.ts'

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
  readonly #texts = new TextCells(CHUNK_ROWS)
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
    this.#texts.clear()
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
    vectors.texts(at, { texts: this.#texts, valid: this.valid }, rows)
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
    this.#texts.set(row, this.#bytes, start, this.#used)
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

/**
 * DuckDB's vectors, filled from JavaScript's memory: whole columns cross, never single values. What stands in them is the
 * caller's.
 */

import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import type { TextCells } from './text-cells.ts'

/** Most rows that DuckDB takes at once. */
export const CHUNK_ROWS = 2048

/** Texts with a bit a row that is set where there is one. */
interface SomeStrings {
  readonly strings: TextCells
  readonly valid: Uint8Array
}

/** Type of a column in DuckDB; for names the memory in which codes get an ENUM's width, or become texts. */
export interface VectorType {
  readonly name: string
  readonly type: DuckDBType
  readonly scratch: Uint8Array | Uint16Array | undefined
  readonly strings: TextCells | undefined
  readonly textOf: (code: number) => string
}

export const NO_TYPE = { scratch: undefined, strings: undefined, textOf: () => '' }
type Fixed = BigInt64Array | Int32Array | Int16Array | Uint8Array | Float64Array

/** The vectors of one chunk, or of the members of a column's structs. Each is to be set once. */
export class Vectors {
  readonly #types: readonly VectorType[]
  readonly #vector: (column: number) => duckdb.Vector

  constructor(vectorOf: (column: number) => duckdb.Vector, types: readonly VectorType[]) {
    this.#vector = vectorOf
    this.#types = types
  }

  /**
   * A struct a row.
   * @param valid a bit for each row, set where there is one
   * @returns the vectors of its members, of so many rows too
   */
  structs(column: number, valid: Uint8Array, rows: number): Vectors {
    const vector = this.#vector(column)
    setValid(vector, valid, rows)
    return new Vectors((member) => duckdb.struct_vector_get_child(vector, member), [])
  }

  /** The first `rows` of `values`, an item of which has the column's width. */
  numbers(column: number, values: Fixed, rows: number): void {
    copyInto(this.#vector(column), values, rows)
  }

  /** As `numbers`, with a bit a row that is set where there is a value. */
  numbersOrNull(column: number, values: Fixed, valid: Uint8Array, rows: number): void {
    const vector = this.#vector(column)
    copyInto(vector, values, rows)
    setValid(vector, valid, rows)
  }

  /** `rows` vectors of so many FLOATs each. */
  floats(column: number, values: Float32Array, rows: number): void {
    const vector = this.#vector(column)
    const length = rows === 0 ? 0 : values.length / rows
    copyInto(duckdb.array_vector_get_child(vector), values, rows * length)
  }

  /**
   * Lists of numbers, one behind the other.
   * @param places for each row where its list begins and how long it is
   * @param valid a bit for each item, set where there is a value; absent where each has one
   */
  numberLists(
    column: number,
    places: BigUint64Array,
    items: Float64Array | Int16Array,
    rows: number,
    valid?: Uint8Array,
  ): void {
    const vector = this.#vector(column)
    const last = 2 * (rows - 1)
    const size = rows === 0 ? 0 : Number((places[last] ?? 0n) + (places[last + 1] ?? 0n))
    duckdb.list_vector_reserve(vector, size)
    duckdb.list_vector_set_size(vector, size)
    copyInto(vector, places, 2 * rows)
    const child = duckdb.list_vector_get_child(vector)
    copyInto(child, items, size)
    if (valid !== undefined) setValid(child, valid, size)
  }

  /** A text a row. */
  strings(column: number, some: SomeStrings, rows: number): void {
    setStrings(this.#vector(column), some, rows)
  }

  /**
   * A list of texts a row, all lists one behind the other.
   * @param places for each row where its list begins and how long it is
   * @param valid a bit for each row, set where there is a list
   * @param items how many texts all lists have
   */
  textLists(
    column: number,
    places: BigUint64Array,
    valid: Uint8Array,
    rows: number,
    some: SomeStrings,
    items: number,
  ): void {
    const child = this.#placeLists(column, places, valid, rows, items)
    setStrings(child, some, items)
  }

  /** As `textLists`, of structs; `fields` are their texts field by field. */
  structLists(
    column: number,
    places: BigUint64Array,
    valid: Uint8Array,
    rows: number,
    fields: readonly SomeStrings[],
    items: number,
  ): void {
    const child = this.#placeLists(column, places, valid, rows, items)
    for (const [at, some] of fields.entries())
      setStrings(duckdb.struct_vector_get_child(child, at), some, items)
  }

  #placeLists(
    column: number,
    places: BigUint64Array,
    valid: Uint8Array,
    rows: number,
    items: number,
  ): duckdb.Vector {
    const vector = this.#vector(column)
    duckdb.list_vector_reserve(vector, items)
    duckdb.list_vector_set_size(vector, items)
    copyInto(vector, places, 2 * rows)
    setValid(vector, valid, rows)
    return duckdb.list_vector_get_child(vector)
  }

  /** Codes of names; -1 stands for NULL. */
  codes(column: number, codes: Int32Array, rows: number): void {
    const vector = this.#vector(column)
    const { scratch, textOf, strings } = this.#types[column] ?? NO_TYPE
    if (strings !== undefined) {
      if (markNulls(codes, rows)) setValid(vector, VALID, rows)
      strings.clear()
      for (let row = 0; row < rows; row++) {
        const code = codes[row] ?? NULL_CODE
        if (code !== NULL_CODE) strings.setText(row, textOf(code))
      }
      strings.copyInto(vector, rows)
      return
    }
    if (scratch === undefined) throw new TypeError('Cannot set codes: the column has no names')
    let all = 0
    for (let row = 0; row < rows; row++) {
      const code = codes[row] ?? NULL_CODE
      all |= code
      scratch[row] = code
    }
    // Codes are not negative, but for that of NULL.
    if (all < 0 && markNulls(codes, rows)) setValid(vector, VALID, rows)
    copyInto(vector, scratch, rows)
  }
}

export const vectorsOf = ({ chunk }: DuckDBDataChunk, types: readonly VectorType[]): Vectors =>
  new Vectors((column) => duckdb.data_chunk_get_vector(chunk, column), types)

const NULL_CODE = -1
const VALID = new Uint8Array(CHUNK_ROWS / 8)

const markNulls = (codes: Int32Array, rows: number): boolean => {
  let any = false
  for (let row = 0; row < rows; row++) {
    if (codes[row] !== NULL_CODE) continue
    if (!any) VALID.fill(0xff)
    any = true
    VALID[row >> 3] = (VALID[row >> 3] ?? 0) & ~(1 << (row & 7))
  }
  return any
}

/** DuckDB copies: it has a copy of what `vector_get_data` gives, so writing there would be lost. */
const copyInto = (
  vector: duckdb.Vector,
  { buffer, byteOffset, BYTES_PER_ELEMENT }: Fixed | Float32Array | BigUint64Array | Uint8Array | Uint16Array,
  rows: number,
): void => {
  duckdb.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, rows * BYTES_PER_ELEMENT)
}

const setStrings = (vector: duckdb.Vector, { strings, valid }: SomeStrings, rows: number): void => {
  strings.copyInto(vector, rows)
  setValid(vector, valid, rows)
}

/** DuckDB keeps validity in words of 64 rows. */
const setValid = (vector: duckdb.Vector, valid: Uint8Array, rows: number): void => {
  duckdb.vector_ensure_validity_writable(vector)
  const bytes = Math.ceil(rows / 64) * 8
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer as ArrayBuffer, valid.byteOffset, bytes)
}

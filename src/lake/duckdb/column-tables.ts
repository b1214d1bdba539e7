/**
 * Columns in JavaScript's memory as tables that DuckDB selects from: whole vectors cross, never single values. Knows
 * DuckDB's vectors; what stands in the columns is the caller's.
 */

import {
  ARRAY,
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBTableFunction,
  type DuckDBType,
  DuckDBTypeId,
  ENUM,
  FLOAT,
  LIST,
  SMALLINT,
  VARCHAR,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { isEnumerable } from './enumerable.ts'

/** Most rows that DuckDB takes at once. */
export const CHUNK_ROWS = 2048

/** Names that codes stand for: an ENUM where `values` can be one, else each code is asked for its text. */
export interface Names {
  readonly values: readonly string[]
  readonly textOf: (code: number) => string
}

/** So many FLOATs in each row. */
export interface FloatArray {
  readonly floats: number
}

export interface ColumnDeclaration {
  readonly name: string
  readonly type: 'BIGINT' | 'SMALLINT' | 'DOUBLE' | 'DOUBLE[]' | FloatArray | Names
}

/** A table whose rows are given chunk by chunk. It may be read again, and by several statements at once. */
export interface ColumnTable {
  readonly columns: readonly ColumnDeclaration[]
  readonly rows: number
  /** Begins at the first row. The function fills the vectors of the next rows, at most `CHUNK_ROWS`, and returns how many. */
  readonly read: () => (vectors: Vectors) => number
}

/** A table as something to stand behind FROM, until it is removed. */
export interface AddedTable {
  readonly from: string
  readonly remove: () => void
}

type Fixed = BigInt64Array | Int16Array | Float64Array

/** The vectors of one chunk. Each is to be set once. */
export class Vectors {
  readonly #types: readonly VectorType[]
  readonly #chunk: DuckDBDataChunk

  constructor(chunk: DuckDBDataChunk, types: readonly VectorType[]) {
    this.#chunk = chunk
    this.#types = types
  }

  #vector(column: number): duckdb.Vector {
    return duckdb.data_chunk_get_vector(this.#chunk.chunk, column)
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
   * Lists of doubles, one behind the other.
   * @param places for each row where its list begins and how long it is
   * @param valid a bit for each item, set where there is a value
   */
  lists(column: number, places: BigUint64Array, items: Float64Array, valid: Uint8Array, rows: number): void {
    const vector = this.#vector(column)
    const last = 2 * (rows - 1)
    const size = rows === 0 ? 0 : Number((places[last] ?? 0n) + (places[last + 1] ?? 0n))
    duckdb.list_vector_reserve(vector, size)
    duckdb.list_vector_set_size(vector, size)
    copyInto(vector, places, 2 * rows)
    const child = duckdb.list_vector_get_child(vector)
    copyInto(child, items, size)
    setValid(child, valid, size)
  }

  /** Codes of names; -1 stands for NULL. */
  codes(column: number, codes: Int32Array, rows: number): void {
    const vector = this.#vector(column)
    const { scratch, textOf } = this.#types[column] ?? NO_TYPE
    const anyNull = markNulls(codes, rows)
    if (anyNull) setValid(vector, VALID, rows)
    if (scratch === undefined) {
      // With its length: a text may hold NUL.
      for (const [row, code] of codes.subarray(0, rows).entries())
        if (code !== NULL_CODE)
          duckdb.vector_assign_string_element_len(vector, row, Buffer.from(textOf(code)))
      return
    }
    scratch.set(rows === CHUNK_ROWS ? codes : codes.subarray(0, rows))
    copyInto(vector, scratch, rows)
  }
}

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

/** DuckDB keeps validity in words of 64 rows. */
const setValid = (vector: duckdb.Vector, valid: Uint8Array, rows: number): void => {
  duckdb.vector_ensure_validity_writable(vector)
  const bytes = Math.ceil(rows / 64) * 8
  duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer as ArrayBuffer, valid.byteOffset, bytes)
}

/** What a column is in DuckDB; of an ENUM the memory in which codes get its width. */
interface VectorType {
  readonly name: string
  readonly type: DuckDBType
  readonly scratch: Uint8Array | Uint16Array | undefined
  readonly textOf: (code: number) => string
}

const NO_TYPE = { scratch: undefined, textOf: () => '' }
const PLAIN = { BIGINT, SMALLINT, DOUBLE, 'DOUBLE[]': LIST(DOUBLE) } as const

const vectorType = ({ name, type }: ColumnDeclaration): VectorType => {
  if (typeof type === 'string') return { ...NO_TYPE, name, type: PLAIN[type] }
  if ('floats' in type) return { ...NO_TYPE, name, type: ARRAY(FLOAT, type.floats) }
  const { values, textOf } = type
  if (!isEnumerable(values)) return { name, type: VARCHAR, scratch: undefined, textOf }
  const enumType = ENUM(values)
  const Codes = enumType.internalTypeId === DuckDBTypeId.UTINYINT ? Uint8Array : Uint16Array
  return { name, type: enumType, scratch: new Codes(CHUNK_ROWS), textOf }
}

/** The name of the function that all tables of an engine are read by. */
const FUNCTION = 'firmlake_columns'

class Bound {
  readonly table: ColumnTable
  readonly types: readonly VectorType[]
  constructor(table: ColumnTable) {
    this.table = table
    this.types = table.columns.map(vectorType)
  }
}

class Reading {
  readonly next: ReturnType<ColumnTable['read']>
  constructor(table: ColumnTable) {
    this.next = table.read()
  }
}

/** What was handed to DuckDB with a statement and comes back from it. */
const given = <T>(what: new (...parameters: never[]) => T, value: object | undefined): T => {
  if (value instanceof what) return value
  throw new TypeError(`Cannot read a table of columns: its ${what.name} is lost`)
}

/** The tables of one engine. DuckDB asks for their rows on this thread: a loop that keeps it busy holds them up. */
export class ColumnTables {
  readonly #tables = new Map<string, ColumnTable>()
  #last = 0

  constructor(connection: DuckDBConnection) {
    connection.registerTableFunction(
      DuckDBTableFunction.create({
        name: FUNCTION,
        parameterTypes: [BIGINT],
        bindFunction: (info) => {
          const table = this.#tables.get(String(info.getParameter(0)))
          if (table === undefined) throw new Error('Cannot read a table of columns: it was removed')
          const bound = new Bound(table)
          for (const { name, type } of bound.types) info.addResultColumn(name, type)
          info.setCardinality(table.rows, true)
          info.setBindData(bound)
        },
        initFunction: (info) => {
          info.setMaxThreads(1)
          info.setInitData(new Reading(given(Bound, info.bindData).table))
        },
        mainFunction: (info, chunk) => {
          const { types } = given(Bound, info.bindData)
          const { next } = given(Reading, info.initData)
          chunk.rowCount = next(new Vectors(chunk, types))
        },
      }),
    )
  }

  add(table: ColumnTable): AddedTable {
    const key = String(++this.#last)
    this.#tables.set(key, table)
    return { from: `${FUNCTION}(${key}::BIGINT)`, remove: () => this.#tables.delete(key) }
  }
}

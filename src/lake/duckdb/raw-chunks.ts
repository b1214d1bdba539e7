/**
 * Columns of a result as the memory that DuckDB keeps them in, so that no value becomes one of JavaScript. Knows
 * DuckDB's layout of vectors (its C interface, "Vectors"); what is made of them is the reader's.
 */

import {
  type DuckDBDataChunk,
  DuckDBEnumType,
  DuckDBListType,
  type DuckDBResult,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
  ResultReturnType,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { ToolkitError } from '../../core/errors.ts'
import type { ColumnType, RawChunk, RawChunks, RawColumn } from '../../core/sink.ts'
import { settled } from '../../support/side-by-side.ts'

/** Bytes of a value where it has a fixed width. A text is kept as 16 bytes: length, then itself or its address. */
const WIDTHS: Readonly<Record<string, number>> = {
  BOOLEAN: 1,
  TINYINT: 1,
  UTINYINT: 1,
  SMALLINT: 2,
  USMALLINT: 2,
  INTEGER: 4,
  UINTEGER: 4,
  FLOAT: 4,
  DATE: 4,
  BIGINT: 8,
  UBIGINT: 8,
  DOUBLE: 8,
  TIMESTAMP: 8,
  TIMESTAMP_TZ: 8,
  VARCHAR: 16,
}
const ENUM_WIDTHS: Readonly<Record<number, 1 | 2 | 4>> = {
  [DuckDBTypeId.UTINYINT]: 1,
  [DuckDBTypeId.USMALLINT]: 2,
  [DuckDBTypeId.UINTEGER]: 4,
}
/** A list's first child and their number. */
const LIST_WIDTH = 16
const TEXT_WIDTH = 16
const LONGEST_INLINE = 12
/** Offset of a short text in its 16 bytes, or the address of a longer one. */
const INLINE_AT = 4
const ADDRESS_AT = 8
const ADDRESS_WIDTH = 8
const NO_BYTES = new Uint8Array(0)

/** The type of a column of a result. */
const columnTypeOf = (type: DuckDBType): ColumnType => {
  if (type instanceof DuckDBEnumType) {
    return { kind: 'enum', values: type.values, width: ENUM_WIDTHS[type.internalTypeId] ?? 4 }
  }
  if (type instanceof DuckDBListType) return { kind: 'list', of: columnTypeOf(type.valueType) }
  if (type instanceof DuckDBStructType) {
    const fields = type.entryTypes.map((field, at) => ({
      name: type.entryNames[at] ?? '',
      type: columnTypeOf(field),
    }))
    return { kind: 'struct', fields }
  }
  return { kind: 'plain', id: DuckDBTypeId[type.typeId], name: String(type) }
}

/**
 * To be called at the end of a streamed result. One that fails halfway through, or is interrupted, ends as if it had no
 * more rows: the package does not pass the error on, nor its text. That there was one shows in the kind of result.
 *
 * @throws {ToolkitError} `ENGINE_FAILED`
 */
export const checkWhole = (result: DuckDBResult): void => {
  if (result.returnType !== ResultReturnType.INVALID) return
  throw new ToolkitError(
    'ENGINE_FAILED',
    'Cannot read all rows: conversion error, out of memory, too many open files, or interrupted',
  )
}

/** Chunks of a result; DuckDB makes the next one while one is used. */
export async function* chunksOf(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  let next = settled(result.fetchChunk())
  try {
    for (;;) {
      const chunk = (await next)()
      if (chunk === null || chunk.rowCount === 0) {
        checkWhole(result)
        return
      }
      next = settled(result.fetchChunk())
      yield chunk
    }
  } finally {
    // A consumer that stops early must not leave a fetch behind: the next statement would meet it.
    await next
  }
}

/** A result's columns and its rows as raw memory, chunk by chunk. */
export const rawChunks = (result: DuckDBResult): RawChunks => {
  const types = result.columnTypes().map(columnTypeOf)
  const columns = types.map((type, at) => ({ name: result.columnName(at), type }))
  return { columns, chunks: readRaw(result, types) }
}

async function* readRaw(result: DuckDBResult, types: readonly ColumnType[]): AsyncGenerator<RawChunk> {
  for await (const chunk of chunksOf(result))
    yield { rows: chunk.rowCount, columns: rawColumns(chunk, types) }
}

/** The columns of a chunk. They may be read until the next chunk is asked for. */
const rawColumns = (chunk: DuckDBDataChunk, types: readonly ColumnType[]): readonly RawColumn[] => {
  const rows = chunk.rowCount
  return types.map((type, at) =>
    rawColumn(duckdb.data_chunk_get_vector(chunk.chunk, at), type, rows, undefined),
  )
}

/** @param above which rows of the struct around it are there: below the others there is nothing to be read */
const rawColumn = (
  vector: duckdb.Vector,
  type: ColumnType,
  rows: number,
  above: Uint8Array | undefined,
): RawColumn => {
  const validity = both(validityOf(vector, rows), above)
  const column = { validity, data: NO_BYTES, children: [], strings: noStrings }
  switch (type.kind) {
    case 'enum':
      return { ...column, data: duckdb.vector_get_data(vector, rows * type.width) }
    case 'list': {
      const size = duckdb.list_vector_get_size(vector)
      const child = rawColumn(duckdb.list_vector_get_child(vector), type.of, size, undefined)
      return { ...column, data: duckdb.vector_get_data(vector, rows * LIST_WIDTH), children: [child] }
    }
    case 'struct': {
      const children = type.fields.map((field, at) =>
        rawColumn(duckdb.struct_vector_get_child(vector, at), field.type, rows, validity),
      )
      return { ...column, children }
    }
    case 'plain': {
      const width = WIDTHS[type.id]
      if (width === undefined) throw new TypeError(`Cannot read the memory of a column of type ${type.name}`)
      const data = isEmpty(validity, rows)
        ? nothing(rows * width)
        : duckdb.vector_get_data(vector, rows * width)
      return type.id === 'VARCHAR' ? new TextColumn(data, validity) : { ...column, data }
    }
  }
}

const noStrings = (): void => {
  throw new TypeError('Cannot read texts of a column that has none')
}

/** DuckDB keeps validity in words of 64 rows, and none while no row is NULL. */
const validityOf = (vector: duckdb.Vector, rows: number): Uint8Array | undefined => {
  const bytes: Uint8Array | null =
    rows === 0 ? null : duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8)
  return bytes ?? undefined
}

/** Whether all rows are NULL: their memory is not read then, because it would be copied. */
const isEmpty = (validity: Uint8Array | undefined, rows: number): boolean => {
  if (rows === 0) return true
  if (validity === undefined) return false
  for (let row = 0; row < rows; row += 8) {
    const bits = validity[row >> 3] ?? 0
    if (rows - row >= 8 ? bits !== 0 : (bits & ((1 << (rows - row)) - 1)) !== 0) return false
  }
  return true
}

let nothingThere: Uint8Array = NO_BYTES
/** So many bytes of nothing; the same for all who ask. */
const nothing = (bytes: number): Uint8Array => {
  if (bytes > nothingThere.length) nothingThere = new Uint8Array(bytes)
  return nothingThere.subarray(0, bytes)
}

const both = (own: Uint8Array | undefined, above: Uint8Array | undefined): Uint8Array | undefined =>
  own === undefined || above === undefined ? (own ?? above) : own.map((bits, at) => bits & (above[at] ?? 0))

/** A column of texts. One class and no closures: what is optimised for one column is so for all. */
class TextColumn implements RawColumn {
  readonly validity: Uint8Array | undefined
  readonly data: Uint8Array
  readonly children = []
  /** Whole words of the rows; DuckDB aligns its vectors. */
  readonly #words: Uint32Array
  /** Memory that was read last, and its addresses. */
  #bytes: Uint8Array = NO_BYTES
  #start = 0
  #end = 0

  constructor(data: Uint8Array, validity: Uint8Array | undefined) {
    this.data = data
    this.validity = validity
    this.#words = new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4)
  }

  strings(from: number, count: number, put: Parameters<RawColumn['strings']>[2]): void {
    const end = from + count
    for (let row = from; row < end; row++) {
      if (!this.#isThere(row)) {
        put(NO_BYTES, 0, 0)
        continue
      }
      const length = this.#lengthOf(row)
      if (length <= LONGEST_INLINE) {
        const at = row * TEXT_WIDTH + INLINE_AT
        put(this.data, at, at + length)
        continue
      }
      const start = this.#addressOf(row)
      if (start < this.#start || start + length > this.#end) this.#readRun(row, end)
      put(this.#bytes, start - this.#start, start - this.#start + length)
    }
  }

  /**
   * Texts of up to 12 bytes stand in the row itself. Longer ones stand elsewhere, mostly one right behind the other: such
   * a run is read as one, because each reading takes as long as copying a kilobyte.
   */
  #readRun(row: number, end: number): void {
    const start = this.#addressOf(row)
    let stop = start + this.#lengthOf(row)
    for (let next = row + 1; next < end; next++) {
      if (!this.#isThere(next) || this.#lengthOf(next) <= LONGEST_INLINE) continue
      if (this.#addressOf(next) !== stop) break
      stop += this.#lengthOf(next)
    }
    const at = row * TEXT_WIDTH + ADDRESS_AT
    const address = new Uint8Array(this.data.subarray(at, at + ADDRESS_WIDTH))
    this.#bytes = duckdb.get_data_from_pointer(address.buffer, 0, stop - start)
    this.#start = start
    this.#end = stop
  }

  #isThere(row: number): boolean {
    const { validity } = this
    return validity === undefined || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0
  }

  #lengthOf(row: number): number {
    return this.#words[row * 4] ?? 0
  }

  #addressOf(row: number): number {
    return (this.#words[row * 4 + 2] ?? 0) + (this.#words[row * 4 + 3] ?? 0) * 2 ** 32
  }
}

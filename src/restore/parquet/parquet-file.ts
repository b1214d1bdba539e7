/**
 * A Parquet file as its footer describes it: row groups, and in each the bytes of a column. Knows no values. Of files that were
 * compared with their hashes: what is damaged gives a `RangeError` or nonsense. Source: parquet-format, README.md and parquet.thrift.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** A column in a row group. */
export interface ColumnChunk {
  readonly codec: number
  /** Values, those that are NULL included: pages are read until there are so many. */
  readonly values: number
  readonly from: number
  readonly bytes: number
}

export interface RowGroup {
  readonly rows: number
  /** Flat columns by name. */
  readonly columns: ReadonlyMap<string, ColumnChunk>
}

/** Bytes of the footer's length and of the mark behind it. */
const TAIL_BYTES = 8

export class ParquetFile {
  readonly #file: number
  readonly groups: readonly RowGroup[]
  /** Memory for the bytes of a column, used again. */
  #bytes = Buffer.alloc(0)

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    try {
      const { size } = fstatSync(this.#file)
      const length = this.read(size - TAIL_BYTES, TAIL_BYTES).readUInt32LE(0)
      const footer = new ThriftReader(this.read(size - TAIL_BYTES - length, length)).struct()
      this.groups = structsField(footer, 4).map(groupOf)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Bytes of the file. They stand until the next ones are read. */
  read(from: number, length: number): Buffer {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * length)
    for (let done = 0; done < length; ) {
      const read = readSync(this.#file, this.#bytes, done, length - done, from + done)
      if (read === 0) throw new RangeError(`Cannot read ${length} bytes at ${from}: the file ends before`)
      done += read
    }
    return this.#bytes.subarray(0, length)
  }

  close(): void {
    closeSync(this.#file)
  }
}

const groupOf = (group: ThriftStruct): RowGroup => ({
  rows: numberField(group, 3),
  columns: new Map(structsField(group, 1).map((chunk) => columnOf(structField(chunk, 3)))),
})

const columnOf = (meta: ThriftStruct): readonly [string, ColumnChunk] => {
  const dictionary = meta.get(11)
  const data = numberField(meta, 9)
  return [
    stringsField(meta, 3).join('.'),
    {
      codec: numberField(meta, 4),
      values: numberField(meta, 5),
      from: typeof dictionary === 'number' ? Math.min(dictionary, data) : data,
      bytes: numberField(meta, 7),
    },
  ]
}

/** Thrift's compact protocol, in which Parquet keeps its own description (thrift: doc/specs/thrift-compact-protocol.md). */

/** A struct is its fields by number; numbers of 64 bits are exact up to 2^53. */
export type ThriftValue = number | boolean | Buffer | readonly ThriftValue[] | ThriftStruct
export interface ThriftStruct extends ReadonlyMap<number, ThriftValue> {}

const STOP = 0
const TRUE = 1
const FALSE = 2
const BYTE = 3
const I16 = 4
const I32 = 5
const I64 = 6
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const SET = 10
const STRUCT = 12
/** The length of a list that does not fit into half a byte stands behind it. */
const LONG_LIST = 15

/** Reads structs that stand one behind the other. */
export class ThriftReader {
  readonly #bytes: Buffer
  /** Place behind what was read. */
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes
    this.at = at
  }

  struct(): ThriftStruct {
    const fields = new Map<number, ThriftValue>()
    for (let id = 0; ; ) {
      const head = this.#byte()
      const kind = head & 0xf
      if (kind === STOP) return fields
      id = head >> 4 === 0 ? this.#integer() : id + (head >> 4)
      fields.set(id, kind === TRUE || kind === FALSE ? kind === TRUE : this.#value(kind))
    }
  }

  #value(kind: number): ThriftValue {
    switch (kind) {
      // As an item of a list; as a field its kind says it.
      case TRUE:
      case FALSE:
        return this.#byte() === TRUE
      case BYTE:
        return (this.#byte() << 24) >> 24
      case I16:
      case I32:
      case I64:
        return this.#integer()
      case DOUBLE:
        this.at += 8
        return this.#bytes.readDoubleLE(this.at - 8)
      case BINARY: {
        const length = this.#unsigned()
        this.at += length
        return this.#bytes.subarray(this.at - length, this.at)
      }
      case LIST:
      case SET: {
        const head = this.#byte()
        const length = head >> 4 === LONG_LIST ? this.#unsigned() : head >> 4
        return Array.from({ length }, () => this.#value(head & 0xf))
      }
      case STRUCT:
        return this.struct()
      default:
        throw new RangeError(`Cannot read Thrift: kind ${kind} at byte ${this.at}`)
    }
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.at++)
  }

  /** Seven bits a byte, the lowest first. */
  #unsigned(): number {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }

  /** With its sign as the lowest bit. */
  #integer(): number {
    const value = this.#unsigned()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
}

/** A field that has to be there. */
const wrong = (id: number): RangeError => new RangeError(`Cannot read Thrift: field ${id} is missing`)
export const numberField = (struct: ThriftStruct, id: number): number => {
  const value = struct.get(id)
  if (typeof value !== 'number') throw wrong(id)
  return value
}
export const structField = (struct: ThriftStruct, id: number): ThriftStruct => {
  const value = struct.get(id)
  if (!(value instanceof Map)) throw wrong(id)
  return value
}
export const structsField = (struct: ThriftStruct, id: number): readonly ThriftStruct[] =>
  listAt(struct, id).filter((value): value is ThriftStruct => value instanceof Map)
export const stringsField = (struct: ThriftStruct, id: number): readonly string[] =>
  listAt(struct, id).map(String)

const listAt = (struct: ThriftStruct, id: number): readonly ThriftValue[] => {
  const value = struct.get(id)
  if (!Array.isArray(value)) throw wrong(id)
  return value
}

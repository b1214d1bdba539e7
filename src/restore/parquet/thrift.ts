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
export const textsField = (struct: ThriftStruct, id: number): readonly string[] =>
  listAt(struct, id).map(String)

const listAt = (struct: ThriftStruct, id: number): readonly ThriftValue[] => {
  const value = struct.get(id)
  if (!Array.isArray(value)) throw wrong(id)
  return value
}

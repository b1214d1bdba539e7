/**
 * Puts rows of raw columns together to the columns of one record batch, as typed arrays. What stands behind a NULL is
 * zero, so that the same rows give the same bytes.
 */

import {
  type Bool,
  type Data,
  type DataType,
  type List,
  makeData,
  type Struct,
  type Utf8,
  Vector,
} from 'apache-arrow'
import type { RawColumn } from '../../core/table-rows.ts'
import type { ArrowColumn } from './arrow-types.ts'
import { ByteBuffer, eachNullRun, type Memory, Validity } from './validity.ts'

/** Rows of one column; `finish` gives them and starts again. */
export interface ColumnBuilder {
  append(column: RawColumn, from: number, count: number): void
  /** Bytes it holds. */
  readonly size: number
  finish(): Data
}

export const columnBuilder = (column: ArrowColumn, memory: Memory): ColumnBuilder => {
  switch (column.kind) {
    case 'fixed':
      return new FixedBuilder(column.type, column.width, memory)
    case 'boolean':
      return new BooleanBuilder(column.type, memory)
    case 'text':
      return new TextBuilder(column.type, memory)
    case 'dictionary':
      return new DictionaryBuilder(column, memory)
    case 'list':
      return new ListBuilder(column.type, columnBuilder(column.child, memory), memory)
    case 'struct':
      return new StructBuilder(
        column.type,
        column.children.map((child) => columnBuilder(child, memory)),
        memory,
      )
  }
}

/** Values of one width, as they stand in the engine's memory. */
class FixedBuilder implements ColumnBuilder {
  readonly #type: DataType
  readonly #width: number
  readonly #values: ByteBuffer
  readonly #validity: Validity
  constructor(type: DataType, width: number, memory: Memory) {
    this.#values = new ByteBuffer(memory)
    this.#validity = new Validity(memory)
    this.#type = type
    this.#width = width
  }

  get size(): number {
    return this.#values.size
  }

  append({ data, validity }: RawColumn, from: number, count: number): void {
    const width = this.#width
    const { bytes, at } = this.#values.grow(count * width)
    bytes.set(part(data, from * width, count * width), at)
    this.#validity.append(validity, from, count)
    if (validity === undefined) return
    eachNullRun(validity, from, count, (start, rows) => {
      bytes.fill(0, at + start * width, at + (start + rows) * width)
    })
  }

  finish(): Data {
    const props = { type: this.#type, data: this.#values.take(), ...this.#validity.take() }
    return makeData<DataType>(props)
  }
}

/** A byte a row comes, a bit a row goes. */
class BooleanBuilder implements ColumnBuilder {
  readonly #type: Bool
  readonly #values: ByteBuffer
  readonly #validity: Validity
  #rows = 0
  constructor(type: Bool, memory: Memory) {
    this.#values = new ByteBuffer(memory)
    this.#validity = new Validity(memory)
    this.#type = type
  }

  get size(): number {
    return this.#values.size
  }

  append({ data, validity }: RawColumn, from: number, count: number): void {
    const before = this.#rows
    this.#rows += count
    const more = ((this.#rows + 7) >> 3) - this.#values.size
    const { bytes, at } = this.#values.grow(more)
    bytes.fill(0, at, at + more)
    for (let row = 0; row < count; row++) {
      if (data[from + row] !== 1) continue
      if (validity !== undefined && ((validity[(from + row) >> 3] ?? 0) & (1 << ((from + row) & 7))) === 0)
        continue
      const to = before + row
      bytes[to >> 3] = (bytes[to >> 3] ?? 0) | (1 << (to & 7))
    }
    this.#validity.append(validity, from, count)
  }

  finish(): Data {
    this.#rows = 0
    return makeData({ type: this.#type, data: this.#values.take(), ...this.#validity.take() })
  }
}

class TextBuilder implements ColumnBuilder {
  readonly #type: Utf8
  readonly #bytes: ByteBuffer
  readonly #offsets: Offsets
  readonly #validity: Validity
  constructor(type: Utf8, memory: Memory) {
    this.#bytes = new ByteBuffer(memory)
    this.#offsets = new Offsets(memory)
    this.#validity = new Validity(memory)
    this.#type = type
  }

  get size(): number {
    return this.#bytes.size
  }

  append(column: RawColumn, from: number, count: number): void {
    const [bytes, offsets] = [this.#bytes, this.#offsets]
    column.texts(from, count, (source, start, end) => {
      bytes.append(source, start, end)
      offsets.append(bytes.size)
    })
    this.#validity.append(column.validity, from, count)
  }

  finish(): Data {
    const [data, valueOffsets] = [this.#bytes.take(), this.#offsets.take()]
    return makeData({ type: this.#type, data, valueOffsets, ...this.#validity.take() })
  }
}

/** Numbers of values that are known before. */
class DictionaryBuilder implements ColumnBuilder {
  readonly #column: DictionaryColumn
  readonly #dictionary: Vector<Utf8>
  readonly #numbers: ByteBuffer
  readonly #validity: Validity
  constructor(column: DictionaryColumn, memory: Memory) {
    this.#numbers = new ByteBuffer(memory)
    this.#validity = new Validity(memory)
    this.#column = column
    this.#dictionary = new Vector([utf8Of(column.type.dictionary, column.values)])
  }

  get size(): number {
    return this.#numbers.size
  }

  append({ data, validity }: RawColumn, from: number, count: number): void {
    const { width, type } = this.#column
    const wide = type.indices.ArrayType.BYTES_PER_ELEMENT
    const source = part(data, from * width, count * width)
    const { bytes, at } = this.#numbers.grow(count * wide)
    if (width === wide) bytes.set(source, at)
    else new type.indices.ArrayType(bytes.buffer, at, count).set(numbersOf(source, width))
    this.#validity.append(validity, from, count)
    if (validity === undefined) return
    eachNullRun(validity, from, count, (start, rows) => {
      bytes.fill(0, at + start * wide, at + (start + rows) * wide)
    })
  }

  finish(): Data {
    const { type } = this.#column
    const props = { type, data: this.#numbers.take(), dictionary: this.#dictionary }
    return makeData<DataType>({ ...props, ...this.#validity.take() })
  }
}
type DictionaryColumn = Extract<ArrowColumn, { kind: 'dictionary' }>

/** A view only where it is not the whole: to make one takes as long as copying a chunk's column. */
const part = (bytes: Uint8Array, start: number, length: number): Uint8Array =>
  start === 0 && length === bytes.length ? bytes : bytes.subarray(start, start + length)

const numbersOf = (data: Uint8Array, width: 1 | 2 | 4): Uint8Array | Uint16Array | Uint32Array => {
  const { buffer, byteOffset, byteLength } = data
  if (width === 1) return data
  return width === 2
    ? new Uint16Array(buffer, byteOffset, byteLength / 2)
    : new Uint32Array(buffer, byteOffset, byteLength / 4)
}

const utf8Of = (type: Utf8, values: readonly string[]): Data<Utf8> => {
  const encoder = new TextEncoder()
  const [bytes, offsets] = [new ByteBuffer('fresh'), new Offsets('fresh')]
  for (const value of values) {
    const encoded = encoder.encode(value)
    bytes.append(encoded, 0, encoded.length)
    offsets.append(bytes.size)
  }
  return makeData({ type, length: values.length, data: bytes.take(), valueOffsets: offsets.take() })
}

class ListBuilder implements ColumnBuilder {
  readonly #type: List
  readonly #child: ColumnBuilder
  readonly #offsets: Offsets
  readonly #validity: Validity
  #children = 0
  constructor(type: List, child: ColumnBuilder, memory: Memory) {
    this.#offsets = new Offsets(memory)
    this.#validity = new Validity(memory)
    this.#type = type
    this.#child = child
  }

  get size(): number {
    return this.#child.size
  }

  append({ data, validity, children: [child] }: RawColumn, from: number, count: number): void {
    if (child === undefined) throw new TypeError('Cannot read a list without its children')
    const entries = new BigUint64Array(data.buffer, data.byteOffset, data.byteLength / 8)
    // Children of rows that follow each other mostly do so too: they are taken at once.
    let run = { start: 0, count: 0 }
    for (let row = from; row < from + count; row++) {
      const isThere = validity === undefined || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0
      const length = isThere ? Number(entries[row * 2 + 1]) : 0
      if (length > 0) {
        const start = Number(entries[row * 2])
        if (run.start + run.count === start) {
          run.count += length
        } else {
          if (run.count > 0) this.#child.append(child, run.start, run.count)
          run = { start, count: length }
        }
      }
      this.#children += length
      this.#offsets.append(this.#children)
    }
    if (run.count > 0) this.#child.append(child, run.start, run.count)
    this.#validity.append(validity, from, count)
  }

  finish(): Data {
    this.#children = 0
    const child = this.#child.finish()
    return makeData({ type: this.#type, child, valueOffsets: this.#offsets.take(), ...this.#validity.take() })
  }
}

class StructBuilder implements ColumnBuilder {
  readonly #type: Struct
  readonly #children: readonly ColumnBuilder[]
  readonly #validity: Validity
  constructor(type: Struct, children: readonly ColumnBuilder[], memory: Memory) {
    this.#validity = new Validity(memory)
    this.#type = type
    this.#children = children
  }

  get size(): number {
    return this.#children.reduce((sum, child) => sum + child.size, 0)
  }

  append({ validity, children }: RawColumn, from: number, count: number): void {
    this.#children.forEach((child, at) => {
      const column = children[at]
      if (column === undefined) throw new TypeError('Cannot read a struct without its fields')
      child.append(column, from, count)
    })
    this.#validity.append(validity, from, count)
  }

  finish(): Data {
    const children = this.#children.map((child) => child.finish())
    return makeData({ type: this.#type, children, ...this.#validity.take() })
  }
}

/** Where each text or list ends; before the first it is 0. */
class Offsets {
  readonly #ends: ByteBuffer
  constructor(memory: Memory) {
    this.#ends = new ByteBuffer(memory)
  }

  append(end: number): void {
    if (this.#ends.size === 0) this.#put(0)
    this.#put(end)
  }

  take(): Int32Array {
    if (this.#ends.size === 0) this.#put(0)
    const bytes = this.#ends.take()
    return new Int32Array(bytes.buffer, 0, bytes.length / 4)
  }

  #put(end: number): void {
    const { bytes, at } = this.#ends.grow(4)
    new DataView(bytes.buffer).setInt32(at, end, true)
  }
}

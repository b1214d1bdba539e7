/**
 * Columns of raw memory as JSON texts, a text a row: what `json-text.ts` says in SQL, written as bytes. A row without a value has an
 * empty text, which is what the contract calls omitted.
 */

import type { Field, ObjectType } from '../contract/fields.ts'
import type { RawColumn } from '../core/sink.ts'
import { ByteWriter } from '../support/buffers.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import {
  DAY,
  INSTANT_BYTES,
  NUMBER_BYTES,
  writeAscii,
  writeDouble,
  writeInstant,
  writeWhole,
} from './number-text.ts'

const { SPACE, QUOTE, COMMA, MINUS, OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } =
  JSON_BYTES

const WORD = 2 ** 32
const LONG_DAY = BigInt(DAY)

/** A text for each row. They stand until they are written anew. */
export class Strings {
  readonly writer = new ByteWriter()
  #ends = new Uint32Array(1 << 11)
  #rows = 0

  /** Begins anew, for so many rows. */
  start(rows: number): void {
    this.writer.clear()
    if (rows > this.#ends.length) this.#ends = new Uint32Array(rows)
    this.#rows = 0
  }

  /** Ends the text of a row. */
  endRow(): void {
    this.#ends[this.#rows++] = this.writer.length
  }

  from(row: number): number {
    return row === 0 ? 0 : (this.#ends[row - 1] ?? 0)
  }

  to(row: number): number {
    return this.#ends[row] ?? 0
  }

  has(row: number): boolean {
    return this.to(row) > this.from(row)
  }

  appendTo(target: ByteWriter, row: number): void {
    target.append(this.writer.bytes, this.from(row), this.to(row))
  }

  /** The text of a row to be kept; `undefined` where it is empty. */
  copyOf(row: number): Buffer | undefined {
    return this.has(row) ? Buffer.from(this.writer.bytes.subarray(this.from(row), this.to(row))) : undefined
  }
}

/**
 * Makes texts of a column's rows; the same memory is used for each call. Classes and no closures: what is optimised for one
 * column is so for all.
 */
export interface TextMaker {
  make(column: RawColumn, rows: number): Strings
}

const isSet = (validity: RawColumn['validity'], row: number): boolean =>
  validity === undefined || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0

const isThere = ({ validity }: RawColumn, row: number): boolean => isSet(validity, row)

/** Two words of 32 bits for a value of 64. */
const wordsOf = ({ data }: RawColumn): Int32Array =>
  new Int32Array(data.buffer, data.byteOffset, data.byteLength >> 2)

/** Ids of a column of 64 bits. */
export const idsOf = ({ data }: RawColumn, rows: number): bigint[] =>
  Array.from(new BigInt64Array(data.buffer, data.byteOffset, rows))

/** Whole numbers below 2^53 of a column of 64 bits. */
export const wholeNumbersOf = (column: RawColumn, rows: number): Float64Array => {
  const words = wordsOf(column)
  return Float64Array.from(
    { length: rows },
    (_, row) => (words[2 * row + 1] ?? 0) * WORD + ((words[2 * row] ?? 0) >>> 0),
  )
}

/** Letters behind the backslash; 0 where the character is written as `\u00XX`. */
const SHORT_ESCAPES = new Map([
  [0x08, 0x62],
  [0x09, 0x74],
  [0x0a, 0x6e],
  [0x0c, 0x66],
  [0x0d, 0x72],
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
])

const escaped = (writer: ByteWriter, byte: number): void => {
  const letter = SHORT_ESCAPES.get(byte)
  writer.byte(BACKSLASH)
  if (letter === undefined) writer.ascii(`u00${byte.toString(16).padStart(2, '0').toUpperCase()}`)
  else writer.byte(letter)
}

/** Appends UTF-8 as a JSON text. */
export const appendQuoted = (writer: ByteWriter, bytes: Uint8Array, start: number, end: number): void => {
  writer.byte(QUOTE)
  let from = start
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) continue
    writer.append(bytes, from, at)
    escaped(writer, byte)
    from = at + 1
  }
  writer.append(bytes, from, end)
  writer.byte(QUOTE)
}

/** The values of a column as they are read: two words of 32 bits for one of 64. */
interface Cells {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly doubles: Float64Array
}

const cellsOf = (column: RawColumn): Cells => {
  const { buffer, byteOffset, byteLength } = column.data
  return {
    bytes: column.data,
    words: wordsOf(column),
    doubles: new Float64Array(buffer, byteOffset, byteLength >> 3),
  }
}

type Append = (writer: ByteWriter, cells: Cells, row: number) => void

const appendInteger: Append = (writer, { words }, row) => {
  const low = (words[2 * row] ?? 0) >>> 0
  const value = (words[2 * row + 1] ?? 0) * WORD + low
  writer.reserve(NUMBER_BYTES)
  if (Number.isSafeInteger(value)) {
    if (value < 0) writer.byte(MINUS)
    writer.length = writeWhole(writer.words, writer.length, Math.abs(value))
  } else {
    const exact = BigInt(words[2 * row + 1] ?? 0) * BigInt(WORD) + BigInt(low)
    writer.length = writeAscii(writer.words, writer.length, exact.toString())
  }
}

const appendBoolean: Append = (writer, { bytes }, row) => writer.ascii(bytes[row] === 0 ? 'false' : 'true')

const appendNumber: Append = (writer, { doubles }, row) => {
  writer.reserve(NUMBER_BYTES)
  writer.length = writeDouble(writer.words, writer.length, doubles[row] ?? 0)
}

/** Upper words of instants up to the year 2112, which are exact as one number. */
const NEAR = 2 ** 20

const appendInstant: Append = (writer, { words }, row) => {
  const low = (words[2 * row] ?? 0) >>> 0
  const high = words[2 * row + 1] ?? 0
  const isNear = high < NEAR && high >= -NEAR
  const micros = high * WORD + low
  const exact = isNear ? 0n : BigInt(high) * BigInt(WORD) + BigInt(low)
  const time = isNear
    ? micros - Math.floor(micros / DAY) * DAY
    : Number(((exact % LONG_DAY) + LONG_DAY) % LONG_DAY)
  const days = isNear ? Math.floor(micros / DAY) : Number((exact - BigInt(time)) / LONG_DAY)
  writer.reserve(INSTANT_BYTES)
  const at = writer.length
  writer.bytes[at] = QUOTE
  const end = writeInstant(writer.words, at + 1, days, time)
  if (end === at + 1) return
  writer.bytes[end] = QUOTE
  writer.length = end + 1
}

class PlainMaker implements TextMaker {
  readonly #append: Append
  readonly #strings = new Strings()

  constructor(append: Append) {
    this.#append = append
  }

  make(column: RawColumn, rows: number): Strings {
    const [append, strings] = [this.#append, this.#strings]
    const cells = cellsOf(column)
    strings.start(rows)
    for (let row = 0; row < rows; row++) {
      if (isThere(column, row)) append(strings.writer, cells, row)
      strings.endRow()
    }
    return strings
  }
}

type AppendText = (writer: ByteWriter, bytes: Uint8Array, start: number, end: number) => void

class TextualMaker implements TextMaker {
  readonly #append: AppendText
  readonly #strings = new Strings()
  readonly #put = this.#add.bind(this)
  #validity: RawColumn['validity']
  #row = 0

  constructor(append: AppendText) {
    this.#append = append
  }

  make(column: RawColumn, rows: number): Strings {
    this.#strings.start(rows)
    this.#validity = column.validity
    this.#row = 0
    column.strings(0, rows, this.#put)
    return this.#strings
  }

  #add(bytes: Uint8Array, start: number, end: number): void {
    if (isSet(this.#validity, this.#row++)) this.#append(this.#strings.writer, bytes, start, end)
    this.#strings.endRow()
  }
}

/** Texts that are JSON already. */
export const verbatimStrings = (): TextMaker =>
  new TextualMaker((writer, bytes, start, end) => writer.append(bytes, start, end))

class ListMaker implements TextMaker {
  readonly #items: TextMaker
  readonly #none: string
  readonly #strings = new Strings()

  /** @param none what stands for an item without a text */
  constructor(items: TextMaker, none: string) {
    this.#items = items
    this.#none = none
  }

  make(column: RawColumn, rows: number): Strings {
    const strings = this.#strings
    strings.start(rows)
    const { writer } = strings
    const words = wordsOf(column)
    let size = 0
    for (let row = 0; row < rows; row++)
      if (isThere(column, row)) size = Math.max(size, (words[4 * row] ?? 0) + (words[4 * row + 2] ?? 0))
    const [child] = column.children
    const items = child && this.#items.make(child, size)
    for (let row = 0; row < rows; row++) {
      if (isThere(column, row)) {
        writer.byte(OPEN_BRACKET)
        const first = words[4 * row] ?? 0
        const end = first + (words[4 * row + 2] ?? 0)
        for (let item = first; item < end; item++) {
          if (item > first) writer.byte(COMMA)
          if (items?.has(item)) items.appendTo(writer, item)
          else writer.ascii(this.#none)
        }
        writer.byte(CLOSE_BRACKET)
      }
      strings.endRow()
    }
    return strings
  }
}

/** `"Name":` */
export const nameText = (name: string): Buffer => Buffer.from(`${JSON.stringify(name)}:`)

/** Writes the object of each row: of the members that it has, nothing where it has none. */
export const writeObjects = (
  objects: Strings,
  names: readonly Buffer[],
  members: readonly (Strings | undefined)[],
  rows: number,
): Strings => {
  const { writer } = objects
  // Many columns have no value in any row.
  const filled = members.flatMap((strings, at) => {
    const name = names[at]
    return strings !== undefined && name !== undefined && strings.writer.length > 0 ? [{ name, strings }] : []
  })
  objects.start(rows)
  for (let row = 0; row < rows; row++) {
    let isFirst = true
    for (const { name, strings } of filled) {
      const from = strings.from(row)
      const to = strings.to(row)
      if (from === to) continue
      writer.byte(isFirst ? OPEN_BRACE : COMMA)
      isFirst = false
      writer.append(name)
      writer.append(strings.writer.bytes, from, to)
    }
    if (!isFirst) writer.byte(CLOSE_BRACE)
    objects.endRow()
  }
  return objects
}

/** Objects of a struct whose fields are the object's, in its order. */
class ObjectMaker implements TextMaker {
  readonly #names: readonly Buffer[]
  readonly #makers: readonly TextMaker[]
  readonly #strings = new Strings()

  constructor({ fields }: ObjectType) {
    this.#names = Object.keys(fields).map(nameText)
    this.#makers = Object.values(fields).map(stringsOfField)
  }

  make(column: RawColumn, rows: number): Strings {
    const members = this.#makers.map((maker, at) => {
      const child = column.children[at]
      return child && maker.make(child, rows)
    })
    return writeObjects(this.#strings, this.#names, members, rows)
  }
}

/** Texts of a field's column in the lake. */
export function stringsOfField(field: Field): TextMaker {
  switch (field.kind) {
    case 'text':
      return new TextualMaker(appendQuoted)
    case 'integer':
      return new PlainMaker(appendInteger)
    case 'boolean':
      return new PlainMaker(appendBoolean)
    case 'number':
      return new PlainMaker(appendNumber)
    case 'date-time':
      return new PlainMaker(appendInstant)
    case 'strings':
      return new ListMaker(new TextualMaker(appendQuoted), 'null')
    case 'object':
      return new ObjectMaker(field.of)
    case 'objects':
      return new ListMaker(new ObjectMaker(field.of), '{}')
    default:
      throw new TypeError(`Cannot write a field of kind "${field.kind}": it is rows, not a column`)
  }
}

/** Thrift's compact protocol the other way round: values as the bytes that `ThriftReader` reads. */

import { ByteWriter } from '../../support/byte-writer.ts'

const STOP = 0
const TRUE = 1
const FALSE = 2
const BINARY = 8
const LIST = 9
const STRUCT = 12
/** Lists of fewer items have their length beside their kind. */
const LONG_LIST = 15
const KINDS = { i16: 4, i32: 5, i64: 6 } as const

/** A whole number of so many bits, exact up to 2^53. */
export interface Integer {
  readonly bits: keyof typeof KINDS
  readonly value: number
}
export const i16 = (value: number): Integer => ({ bits: 'i16', value })
export const i32 = (value: number): Integer => ({ bits: 'i32', value })
export const i64 = (value: number): Integer => ({ bits: 'i64', value })

/** A struct is its fields by number; one that is `undefined` is left out. Items of a list are all of one kind. */
export type Written = Integer | boolean | string | Uint8Array | readonly Written[] | Fields
export interface Fields {
  readonly [id: number]: Written | undefined
}

const isInteger = (value: object): value is Integer => 'bits' in value
const isList = (value: object): value is readonly Written[] => Array.isArray(value)

const kindOf = (value: Written): number => {
  if (typeof value === 'boolean') return value ? TRUE : FALSE
  if (typeof value === 'string' || value instanceof Uint8Array) return BINARY
  if (isList(value)) return LIST
  return isInteger(value) ? KINDS[value.bits] : STRUCT
}

/** Appends a struct. */
export const writeStruct = (out: ByteWriter, fields: Fields): void => {
  let last = 0
  // Keys that are whole numbers come in their order.
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const id = Number(key)
    const [kind, step] = [kindOf(value), id - last]
    if (step < LONG_LIST) out.byte((step << 4) | kind)
    else {
      out.byte(kind)
      writeInteger(out, id)
    }
    last = id
    // As a field its kind says it.
    if (typeof value !== 'boolean') writeValue(out, value)
  }
  out.byte(STOP)
}

const writeValue = (out: ByteWriter, value: Written): void => {
  if (typeof value === 'boolean') out.byte(value ? TRUE : FALSE)
  else if (typeof value === 'string') writeBytes(out, Buffer.from(value))
  else if (value instanceof Uint8Array) writeBytes(out, value)
  else if (isList(value)) writeList(out, value)
  else if (isInteger(value)) writeInteger(out, value.value)
  else writeStruct(out, value)
}

const writeBytes = (out: ByteWriter, bytes: Uint8Array): void => {
  writeUnsigned(out, bytes.length)
  out.append(bytes)
}

const writeList = (out: ByteWriter, items: readonly Written[]): void => {
  const [first] = items
  const kind = first === undefined ? STRUCT : kindOf(first)
  if (items.length < LONG_LIST) out.byte((items.length << 4) | kind)
  else {
    out.byte((LONG_LIST << 4) | kind)
    writeUnsigned(out, items.length)
  }
  for (const item of items) writeValue(out, item)
}

/** Seven bits a byte, the lowest first. */
export const writeUnsigned = (out: ByteWriter, value: number): void => {
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.byte((rest % 0x80) | 0x80)
  out.byte(rest)
}

/** With its sign as the lowest bit. */
const writeInteger = (out: ByteWriter, value: number): void =>
  writeUnsigned(out, value < 0 ? -2 * value - 1 : 2 * value)

/** Memory for structs, used again. */
const out = new ByteWriter()

/** A struct's bytes. */
export const structBytes = (fields: Fields): Buffer => {
  out.clear()
  writeStruct(out, fields)
  return Buffer.from(out.written())
}

/**
 * The code of `wasm/` and its memory: what the contract tells it, room for a line and for the figures of a record.
 */

import { readFileSync } from 'node:fs'
import { CATEGORIES, LINE_ITEMS } from '../contract/line-items.ts'
import { ownFile } from '../support/own-files.ts'
import { Rejection } from './json-scan.ts'
import { readDecimal } from './read-decimal.ts'

/** Nothing else of it is used; Node's types do not have it. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/** What the code offers. Positions are in its memory. */
export interface FigureCode {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => void }
  readonly FIGURES: { readonly value: number }
  readonly HEADCOUNTS: { readonly value: number }
  readonly LINE_ITEM_KEYS: { readonly value: number }
  readonly CATEGORY_KEYS: { readonly value: number }
  readonly POWERS_OF_FIVE: { readonly value: number }
  /** Where memory begins that it does not use itself. */
  readonly END: { readonly value: number }
  readonly setKeys: (lineItems: number, categories: number) => void
  readonly readStatement: (open: number, statement: number) => number
  readonly readSeries: (open: number, rows: number) => number
  readonly addText: (rows: number, year: number, at: number) => void
  readonly endSeries: (rows: number, statement: number, category: number, lineItem: number) => void
  readonly endRecord: (rows: number, power: number) => number
}

let compiled: object | undefined
const instanceOf = (read: (at: number, power: number) => number): FigureCode => {
  compiled ??= new WebAssembly.Module(readFileSync(ownFile('load/record-figures.wasm')))
  const { exports } = new WebAssembly.Instance(compiled, { values: { readDecimal: read } })
  // A plain object: what stands in the one of the instance is looked up at each call.
  return { ...(exports as FigureCode) }
}

const PAGE_BYTES = 64 * 1024
/** Lines for which there is room at first, in bytes: nearly all are shorter. */
const FIRST_LINE_BYTES = 64 * 1024
/** With a longer one the columns would not fit into the 4 GiB that WebAssembly has. */
const MOST_LINE_BYTES = 512 * 1024 ** 2
/** So many bytes behind a line are zeros: a word may end beyond its end, a key as well. */
const SLACK = 128

/** A figure takes at least so many bytes of a line: `"2020":1,`. */
const LEAST_FIGURE_BYTES = 9
/** A series that has one: `"A":{"2020":1},`. */
const LEAST_SERIES_BYTES = 15

/** The fields of `Rows` behind its three counts: bytes of an item, and whether one is a series or a row. */
const COLUMNS = [
  { of: 'rows', bytes: 2 },
  { of: 'rows', bytes: 8 },
  { of: 'rows', bytes: 1 },
  { of: 'series', bytes: 4 },
  { of: 'series', bytes: 1 },
  { of: 'series', bytes: 4 },
  { of: 'series', bytes: 4 },
  { of: 'rows', bytes: 4 },
  { of: 'rows', bytes: 8 },
] as const
/** Words before them. */
export const COLUMNS_AT = 3

/** The fields of `Key`, and how many there is room for. */
const LENGTH_AT = 8
const CATEGORY_AT = 9
const SCALED_AT = 10
const TEXT_AT = 16
const KEY_BYTES = 80
const MOST_KEYS = 128

/** 128 bits of a power of five, from its first one on; a fraction is rounded up. */
const powerOfFive = (power: number): bigint => {
  const five = 5n ** BigInt(Math.abs(power))
  const bits = BigInt(five.toString(2).length)
  return power < 0 ? (1n << (bits + 127n)) / five + 1n : five << (128n - bits)
}
/** Of the powers of ten from -27 to 9 those of five, as `nearest-double.ts` asks for them. */
const HALVES_OF_POWERS = Array.from({ length: 37 }, (_, at) => powerOfFive(at - 27)).flatMap((power) => [
  power >> 64n,
  BigInt.asUintN(64, power),
])

/** The code with its memory: where the keys of the contract, the columns and the line stand. */
export class FigureMemory {
  readonly code: FigureCode
  bytes: Buffer = Buffer.alloc(0)
  /** Counts and positions, four bytes each. */
  words = new Uint32Array(0)
  /** Where there is room for a line, and for how long a one. */
  #line = 0
  #room = 0

  constructor() {
    this.code = instanceOf((at, power) => readDecimal(this.bytes, at, power))
    this.#makeRoom(FIRST_LINE_BYTES)
    this.#writeKeys()
    for (const [at, half] of HALVES_OF_POWERS.entries())
      this.bytes.writeBigUInt64LE(half, this.code.POWERS_OF_FIVE.value + 8 * at)
  }

  /** Takes a line in. @returns where it begins @throws {Rejection} LINE_TOO_LONG */
  take(line: Buffer): number {
    if (line.length > MOST_LINE_BYTES)
      throw new Rejection(
        'LINE_TOO_LONG',
        `Line has ${line.length} bytes, figures are read of 512 MiB at most`,
      )
    if (line.length > this.#room)
      this.#makeRoom(Math.min(Math.max(line.length, 2 * this.#room), MOST_LINE_BYTES))
    // Memory that is shared is copied quickly only to the same place within eight bytes.
    const at = this.#line + (line.byteOffset % 8)
    this.bytes.set(line, at)
    this.bytes.fill(0, at + line.length, at + line.length + SLACK)
    return at
  }

  /** @throws {RangeError} where there is no such memory */
  #makeRoom(lineBytes: number): void {
    const { code } = this
    const items = {
      rows: Math.ceil(lineBytes / LEAST_FIGURE_BYTES) + 1,
      series: Math.ceil(lineBytes / LEAST_SERIES_BYTES) + 1,
    }
    let end = code.END.value
    const place = (bytes: number): number => {
      const at = Math.ceil(end / 8) * 8
      end = at + bytes
      return at
    }
    const columns = [code.FIGURES, code.HEADCOUNTS].map(({ value }) => ({
      rows: value,
      places: COLUMNS.map(({ of, bytes }) => place(items[of] * bytes)),
    }))
    this.#line = place(lineBytes + SLACK + 8)
    this.#room = lineBytes
    const missing = end - code.memory.buffer.byteLength
    if (missing > 0) code.memory.grow(Math.ceil(missing / PAGE_BYTES))
    this.bytes = Buffer.from(code.memory.buffer)
    this.words = new Uint32Array(code.memory.buffer)
    for (const { rows, places } of columns) this.words.set(places, rows / 4 + COLUMNS_AT)
  }

  #writeKeys(): void {
    const { code } = this
    for (const [at, name] of CATEGORIES.entries()) {
      const key = this.#writeKey(code.CATEGORY_KEYS.value, at, name)
      this.bytes.writeInt8(
        LINE_ITEMS.findIndex(({ category }) => category === name),
        key + CATEGORY_AT,
      )
    }
    for (const [at, { lineItem, category, scaled }] of LINE_ITEMS.entries()) {
      const key = this.#writeKey(code.LINE_ITEM_KEYS.value, at, lineItem)
      const place = CATEGORIES.indexOf(category)
      this.bytes.writeInt8(place, key + CATEGORY_AT)
      this.bytes.writeInt8(scaled ? place : -1, key + SCALED_AT)
    }
    code.setKeys(LINE_ITEMS.length, CATEGORIES.length)
  }

  /** @returns where the key stands */
  #writeKey(keys: number, at: number, name: string): number {
    const text = Buffer.from(`${name}":{`)
    if (at >= MOST_KEYS || text.length > KEY_BYTES - TEXT_AT)
      throw new RangeError(`Cannot look for "${name}": there are too many names, or it is too long`)
    const key = keys + at * KEY_BYTES
    this.bytes.writeBigUInt64LE(BigInt.asUintN(64, -1n) >> BigInt((8 - (text.length % 8 || 8)) * 8), key)
    this.bytes.writeUInt8(text.length, key + LENGTH_AT)
    text.copy(this.bytes, key + TEXT_AT)
    return key
  }
}

/** Values of a record's fields from the JSON that the checker has let pass: texts, numbers and lists of texts, in place. */

import { PROTECTED_IDENTITY } from '../contract/objects.ts'
import { JSON_BYTES, skipText } from '../support/json-bytes.ts'
import { POWERS_OF_TEN, readDecimal } from './read-decimal.ts'

const { QUOTE, BACKSLASH, COLON, MINUS, POINT, ZERO, NINE, OPEN_BRACE, CLOSE_BRACE, CLOSE_BRACKET } =
  JSON_BYTES
/** Digits that a double holds whatever they are. */
const SAFE_DIGITS = 15
const NO_BYTES = Buffer.alloc(0)

/** Place of the UTF-8 bytes of texts: in the block itself, or beside it where one is written with escapes. */
export class TextReader {
  bytes: Buffer = NO_BYTES
  from = 0
  to = 0

  /** Finds the text whose JSON stands from `from` to `to`. */
  read(block: Buffer, from: number, to: number): void {
    this.bytes = block
    this.from = from + 1
    this.to = to - 1
    if (!hasEscape(block, this.from, this.to)) return
    this.bytes = Buffer.from(textOf(block, from, to))
    this.from = 0
    this.to = this.bytes.length
  }

  /** The text that was found last. */
  text(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + this.from, this.to - this.from).toString()
  }
}

/** The text whose JSON stands from `from` to `to`. */
const textOf = (block: Buffer, from: number, to: number): string =>
  String(JSON.parse(block.toString('utf8', from, to)))

const hasEscape = (block: Buffer, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (block[at] === BACKSLASH) return true
  return false
}

/** The number whose JSON stands from `from` to `to`; in quotes it is read as the number. */
export const numberOf = (block: Buffer, from: number, to: number): number => {
  const isQuoted = block[from] === QUOTE
  const end = isQuoted ? to - 1 : to
  let at = isQuoted ? from + 1 : from
  const start = at
  const isNegative = block[at] === MINUS
  if (isNegative) at++
  const first = at
  let digits = 0
  let places = 0
  for (; at < end; at++) {
    const byte = block[at]!
    if (byte >= ZERO && byte <= NINE) digits = digits * 10 + byte - ZERO
    else if (byte === POINT && places === 0) places = end - at - 1
    else return readDecimal(block, start, 0)
  }
  if (end - first > SAFE_DIGITS) return readDecimal(block, start, 0)
  const value = places === 0 ? digits : digits / POWERS_OF_TEN[places]!
  // A whole number has no negative zero, but in quotes.
  return isNegative && (value !== 0 || places > 0 || isQuoted) ? -value : value
}

/** The whole number whose JSON stands from `from` to `to`, in digits, quotes or with an exponent; below 2^53 a number. */
export const wholeOf = (block: Buffer, from: number, to: number): number | bigint => {
  const isQuoted = block[from] === QUOTE
  const start = isQuoted ? from + 1 : from
  const end = isQuoted ? to - 1 : to
  const isNegative = block[start] === MINUS
  let value = 0
  if (end - start <= SAFE_DIGITS) {
    let at = isNegative ? start + 1 : start
    for (; at < end; at++) {
      const byte = block[at]!
      if (byte < ZERO || byte > NINE) break
      value = value * 10 + byte - ZERO
    }
    if (at === end) return isNegative ? 0 - value : value
  }
  const written = block.toString('latin1', start, end)
  return /^-?\d+$/.test(written) ? BigInt(written) : Number(written)
}

/**
 * Calls `take` with the place of each item of a plain list of texts, without white space.
 * @returns false for a list in another form; some items may have been taken
 */
export const plainStrings = (
  block: Buffer,
  from: number,
  to: number,
  take: (from: number, to: number) => void,
): boolean => {
  let at = from + 1
  while (at < to - 1) {
    if (block[at] !== QUOTE) return false
    const end = skipText(block, at)
    take(at, end)
    if (block[end] === CLOSE_BRACKET) return end === to - 1
    at = end + 1
  }
  return true
}

/**
 * Calls `start` for each item of a plain list of objects of texts, without white space, and `take` with the places of
 * each member's name and text.
 * @returns false for a list in another form; some items may have been taken
 */
export const plainObjects = (
  block: Buffer,
  from: number,
  to: number,
  start: () => void,
  take: (keyFrom: number, keyTo: number, from: number, to: number) => void,
): boolean => {
  let at = from + 1
  while (at < to - 1) {
    if (block[at] !== OPEN_BRACE) return false
    start()
    if (block[at + 1] === CLOSE_BRACE) at++
    while (block[at] !== CLOSE_BRACE) {
      if (block[at + 1] !== QUOTE) return false
      const keyEnd = skipText(block, at + 1)
      if (block[keyEnd] !== COLON || block[keyEnd + 1] !== QUOTE) return false
      if (hasEscape(block, at + 2, keyEnd)) return false
      const end = skipText(block, keyEnd + 1)
      take(at + 2, keyEnd - 1, keyEnd + 1, end)
      at = end
    }
    at += 2
  }
  return true
}

const MASK = JSON.stringify(PROTECTED_IDENTITY)
const MASK_BYTES = Buffer.from(MASK)
/** As it usually comes, in the form that DuckDB writes it in. */
const USUAL: ReadonlySet<string> = new Set([MASK, `[${MASK}]`])

/** The JSON that stands from `from` to `to` where it holds the text that stands for personal data. */
export const maskedJson = (block: Buffer, from: number, to: number): string | undefined => {
  if (!mayBeMasked(block, from, to)) return undefined
  const json = block.toString('utf8', from, to)
  const unescaped = json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json
  return unescaped.includes(MASK) ? json : undefined
}

/** Whether masked JSON is in another form than DuckDB's. */
export const isOddJson = (json: string): boolean => !USUAL.has(json)

/** Whether the text stands there, or something written with escapes. */
const mayBeMasked = (block: Buffer, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const byte = block[at]
    if (byte === BACKSLASH || (byte === QUOTE && isMaskAt(block, at))) return true
  }
  return false
}

const isMaskAt = (block: Buffer, at: number): boolean => {
  for (let byte = 1; byte < MASK_BYTES.length; byte++) if (block[at + byte] !== MASK_BYTES[byte]) return false
  return true
}

/** Numbers as JSON text, written as bytes. All give the place behind what they wrote; the room has to be there. */

import { JSON_BYTES } from '../support/json-bytes.ts'

const { COMMA, QUOTE, MINUS, POINT, ZERO, COLON } = JSON_BYTES

/** The most bytes of a number, `-1.2345678901234567e-308`, and those overwritten behind it. */
export const NUMBER_BYTES = 32

const BLOCK = 10_000
/** Four digits of each number below 10,000 as the bytes of one word, and the same without zeros before the first, moved to the front. */
const FOUR_DIGITS = new Uint32Array(BLOCK)
const FIRST_DIGITS = new Uint32Array(BLOCK)
/** How many digits a number below 10,000 has, and how many of its four are left without zeros at the end. */
const DIGITS = new Uint8Array(BLOCK)
const DECIMALS = new Uint8Array(BLOCK)
for (let number = 0; number < BLOCK; number++) {
  let word = 0
  let decimals = 0
  for (let place = 3, rest = number; place >= 0; place--) {
    const digit = rest % 10
    rest = (rest - digit) / 10
    word |= (ZERO + digit) << (8 * place)
    if (digit > 0) decimals = Math.max(decimals, place + 1)
  }
  const digits = number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 4
  FOUR_DIGITS[number] = word
  FIRST_DIGITS[number] = word >>> (8 * (4 - digits))
  DIGITS[number] = digits
  DECIMALS[number] = decimals
}

/**
 * Writes a number as `String` does, which is JSON; -0 keeps its sign. Most figures have few digits, of which at
 * most four are decimals: no other number so short is read as the same double, so these are the ones to write.
 * Up to four bytes behind it are overwritten.
 */
export const writeNumber = (words: DataView, start: number, value: number): number => {
  let at = start
  const whole = value | 0
  if (whole === value && (whole !== 0 || !Object.is(value, -0))) {
    if (whole >= 0) return writeShort(words, at, whole)
    words.setUint8(at++, MINUS)
    return whole === -(2 ** 31) ? writeWhole(words, at, -whole) : writeShort(words, at, -whole)
  }
  const tenThousandths = Math.round(value * BLOCK)
  const size = Math.abs(tenThousandths)
  if (!(size <= 1e14) || tenThousandths / BLOCK !== value || size === 0)
    return writeAscii(words, at, size === 0 && Object.is(value, -0) ? '-0' : String(value))
  if (tenThousandths < 0) words.setUint8(at++, MINUS)
  const units = size < MOST_SHORT ? (size / BLOCK) | 0 : Math.floor(size / BLOCK)
  const decimals = size - units * BLOCK
  at = units < BLOCK ? writeFirst(words, at, units) : writeWhole(words, at, units)
  if (decimals === 0) return at
  words.setUint8(at, POINT)
  words.setUint32(at + 1, FOUR_DIGITS[decimals] ?? 0, true)
  return at + 1 + (DECIMALS[decimals] ?? 0)
}

/** Whole numbers below it are exact. */
const EXACT_WHOLE = 2 ** 53

/** Writes a number as `numberText` says it in SQL: whole numbers beyond 2^53 and -0 with a fraction. */
export const writeDouble = (words: DataView, start: number, value: number): number =>
  Math.abs(value) < EXACT_WHOLE && !Object.is(value, -0)
    ? writeNumber(words, start, value)
    : writeAscii(words, start, doubleText(value))

/** A double as DuckDB's JSON says it: always with a fraction or an exponent. */
export const doubleText = (value: number): string => {
  const text = Object.is(value, -0) ? '-0' : String(value).replace('e+', 'e')
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** Writes a whole number from 0 to 2^53. */
export const writeWhole = (words: DataView, start: number, value: number): number => {
  if (value < MOST_SHORT) return writeShort(words, start, value)
  const upper = Math.floor(value / EIGHT_DIGITS)
  const at = writeWhole(words, start, upper)
  const lower = value - upper * EIGHT_DIGITS
  return writeFour(words, writeFour(words, at, (lower / BLOCK) | 0), lower % BLOCK)
}
/** Whole numbers below it are divided fast. */
const MOST_SHORT = 2 ** 31
const EIGHT_DIGITS = 1e8

const writeShort = (words: DataView, start: number, value: number): number => {
  if (value < BLOCK) return writeFirst(words, start, value)
  const upper = (value / BLOCK) | 0
  const at =
    upper < BLOCK
      ? writeFirst(words, start, upper)
      : writeFour(words, writeFirst(words, start, (upper / BLOCK) | 0), upper % BLOCK)
  return writeFour(words, at, value - upper * BLOCK)
}

/** Writes a whole number below 10,000. */
const writeFirst = (words: DataView, start: number, value: number): number => {
  words.setUint32(start, FIRST_DIGITS[value] ?? 0, true)
  return start + (DIGITS[value] ?? 0)
}

const writeFour = (words: DataView, start: number, value: number): number => {
  words.setUint32(start, FOUR_DIGITS[value] ?? 0, true)
  return start + 4
}

/** Writes a text of ASCII characters. */
export const writeAscii = (words: DataView, start: number, text: string): number => {
  for (let at = 0; at < text.length; at++) words.setUint8(start + at, text.charCodeAt(at))
  return start + text.length
}

/** Writes `,"2023":`. */
export const writeYear = (words: DataView, start: number, year: number): number => {
  if (year < 1000 || year >= BLOCK) return writeAscii(words, start, `,"${year}":`)
  const digits = FOUR_DIGITS[year] ?? 0
  words.setUint32(start, COMMA | (QUOTE << 8) | (digits << 16), true)
  words.setUint32(start + 4, (digits >>> 16) | (QUOTE << 16) | (COLON << 24), true)
  return start + 8
}

/** The most bytes of an instant: `2020-01-02T03:04:05.123456`. */
export const INSTANT_BYTES = 32

/** Microseconds of a minute and of a day. */
const MINUTE = 60_000_000
export const DAY = 24 * 60 * MINUTE
/** Days from 1 March of the year 0 to 1970, and of 400 years. */
const EPOCH_DAYS = 719_468
const ERA_DAYS = 146_097

/**
 * Writes an instant as `2020-01-02T03:04:05`, with a fraction only where there is one. Years from 1 to 9999; of any other
 * nothing is written.
 *
 * @param days since 1970
 * @param time of that day, in microseconds
 *
 * Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
 */
export const writeInstant = (words: DataView, start: number, days: number, time: number): number => {
  const shifted = days + EPOCH_DAYS
  const era = Math.floor(shifted / ERA_DAYS)
  const day = shifted - era * ERA_DAYS
  const yearOfEra = Math.floor(
    (day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365,
  )
  const dayOfYear = day - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  if (!(year >= 1 && year <= 9999)) return start
  let at = writeFour(words, start, year)
  at = writePart(words, at, MINUS, month)
  at = writePart(words, at, MINUS, dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1)
  const minutes = Math.floor(time / MINUTE)
  const rest = time - minutes * MINUTE
  at = writePart(words, at, 0x54, (minutes / 60) | 0)
  at = writePart(words, at, COLON, minutes % 60)
  const seconds = Math.floor(rest / 1_000_000)
  at = writePart(words, at, COLON, seconds)
  const fraction = rest - seconds * 1_000_000
  if (fraction === 0) return at
  words.setUint8(at, POINT)
  const upper = Math.floor(fraction / 100)
  writePair(words, writeFour(words, at + 1, upper), fraction - upper * 100)
  at += 1 + FRACTION_DIGITS
  while (words.getUint8(at - 1) === ZERO) at--
  return at
}

const FRACTION_DIGITS = 6

const writePair = (words: DataView, start: number, value: number): number => {
  words.setUint16(start, (FOUR_DIGITS[value] ?? 0) >>> 16, true)
  return start + 2
}

const writePart = (words: DataView, start: number, sign: number, value: number): number => {
  words.setUint8(start, sign)
  return writePair(words, start + 1, value)
}

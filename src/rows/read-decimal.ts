/**
 * Decimals of more digits than a double holds, times a power of ten, to the last bit: in two doubles, as far as their
 * error leaves no doubt; the others by the text.
 */

import { shiftDecimal } from '../support/exact-numbers.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'

const { PLUS, MINUS, POINT, ZERO, NINE, LARGE_E, SMALL_E } = JSON_BYTES
/** The bit by which small letters differ from large ones. */
const CASE_BIT = 0x20

/** Digits of the first and of the second whole number that a decimal is read into: both are doubles. */
const FIRST_DIGITS = 15
const MOST_DIGITS = FIRST_DIGITS + 7
/** More than what two doubles leave out of a quotient or product, in units of the first and of the second. */
const ERROR_OF_FIRST = 2 ** -100
const ERROR_OF_SECOND = 2 ** -49

/** The double nearest to the number that stands at `start`, times a power of ten from 0 to 9. Infinite if it is larger. */
export const readDecimal = (buffer: Buffer, start: number, power: number): number => {
  const isNegative = buffer[start] === MINUS
  let at = isNegative ? start + 1 : start
  let first = 0
  let second = 0
  let digits = 0
  let point = -1
  for (;;) {
    const byte = buffer[at]!
    if (byte >= ZERO && byte <= NINE) {
      if (digits < FIRST_DIGITS) first = first * 10 + (byte - ZERO)
      else second = second * 10 + (byte - ZERO)
      if (digits > 0 || byte !== ZERO) digits++
    } else if (byte === POINT && point < 0) point = at + 1
    else break
    at++
  }
  const places = (point < 0 ? 0 : at - point) - power
  const hasExponent = (buffer[at]! | CASE_BIT) === SMALL_E
  if (!hasExponent && digits > FIRST_DIGITS && digits <= MOST_DIGITS && places < POWERS_OF_TEN.length) {
    const value = nearest(first, second, digits - FIRST_DIGITS, places)
    if (value >= 0) return isNegative ? -value : value
  }
  return shiftDecimal(textAt(buffer, start), power)
}

/** The double nearest to (first × 10^more + second) / 10^places; -1 where two doubles do not tell. */
const nearest = (first: number, second: number, more: number, places: number): number => {
  const step = POWERS_OF_TEN[more]!
  const product = first * step
  const rest = productError(first, step, product) + second
  const high = product + rest
  const low = rest - (high - product)
  let value: number
  let correction: number
  if (places > 0) {
    const divisor = POWERS_OF_TEN[places]!
    value = high / divisor
    const back = value * divisor
    correction = (high - back - productError(value, divisor, back) + low) / divisor
  } else {
    const factor = POWERS_OF_TEN[-places]!
    value = high * factor
    correction = productError(high, factor, value) + low * factor
  }
  const doubt = value * ERROR_OF_FIRST + Math.abs(correction) * ERROR_OF_SECOND
  const found = value + correction
  return value + (correction + doubt) === found && value + (correction - doubt) === found ? found : -1
}

/** The rounding error of a product of two doubles, exactly: by halves of 26 bits (Dekker). */
const productError = (a: number, b: number, product: number): number => {
  // No pairs: lists of them were a third of a conversion's garbage.
  const aCut = a * HALF
  const bCut = b * HALF
  const aHigh = aCut - (aCut - a)
  const bHigh = bCut - (bCut - b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  return aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow
}
const HALF = 2 ** 27 + 1

/** The text of the number that stands at `start`. */
const textAt = (buffer: Buffer, start: number): string => {
  let end = start
  while (isOfNumber(buffer[end])) end++
  return buffer.toString('latin1', start, end)
}
const isOfNumber = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= ZERO && byte <= NINE) ||
    byte === POINT ||
    byte === MINUS ||
    byte === PLUS ||
    byte === SMALL_E ||
    byte === LARGE_E)

/** Powers of ten that are doubles exactly. */
export const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

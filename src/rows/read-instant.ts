/**
 * Date-times as instants, in the forms in which services write them: a day, or a day with a time, a fraction and a zone.
 * They are what DuckDB makes of the text (`lake/tables/value-sql.ts`); every other form is left to it.
 */

import { JSON_BYTES } from '../support/json-bytes.ts'

const { ZERO, NINE, MINUS, PLUS, COLON, POINT, SPACE } = JSON_BYTES
const LETTER_T = 0x54
const LETTER_Z = 0x5a
const DAY_LENGTH = 10
const SECOND_LENGTH = 19
/** Digits of a fraction that an instant holds, and that DuckDB reads. */
const MICRO_DIGITS = 6
const MOST_DIGITS = 9
const MOST_OFFSET_HOURS = 14
const TWO_16 = 0x10000
const TWO_32 = 0x100000000

/** `plain`: the instant restores the text. `unlike`: it does not. `absent`: the default date-time. `other`: ask DuckDB. */
export type InstantForm = 'plain' | 'unlike' | 'absent' | 'other'

/** Reads one instant after the other. */
export class InstantReader {
  /** The lower and upper half of the microseconds since 1970 of the last `plain` or `unlike` one. */
  low = 0
  high = 0

  /** Reads the text from `from` to `to`. @param isDay takes a day as it is written, and so its time, in whatever zone */
  read(bytes: Uint8Array, from: number, to: number, isDay = false): InstantForm {
    const year = number(bytes, from, 4)
    const month = number(bytes, from + 5, 2)
    const day = number(bytes, from + 8, 2)
    if (to - from < DAY_LENGTH || bytes[from + 4] !== MINUS || bytes[from + 7] !== MINUS) return 'other'
    if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month))) return 'other'
    const days = daysSince1970(year, month, day)
    if (to - from === DAY_LENGTH)
      return days === -DAYS_BEFORE_1970 ? 'absent' : this.#set(days * DAY_SECONDS, 0, 'unlike')
    return this.#time(bytes, from, to, days, isDay)
  }

  #time(bytes: Uint8Array, from: number, to: number, days: number, isDay: boolean): InstantForm {
    const separator = bytes[from + DAY_LENGTH]
    if (to - from < SECOND_LENGTH || (separator !== LETTER_T && separator !== SPACE)) return 'other'
    const hour = number(bytes, from + 11, 2)
    const minute = number(bytes, from + 14, 2)
    const second = number(bytes, from + 17, 2)
    if (bytes[from + 13] !== COLON || bytes[from + 16] !== COLON) return 'other'
    if (!(hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59))
      return 'other'
    let at = from + SECOND_LENGTH
    let micros = 0
    let isPlain = separator === LETTER_T
    if (at < to && bytes[at] === POINT) {
      const start = ++at
      while (at < to && isDigit(bytes[at]!)) at++
      const digits = at - start
      if (digits === 0 || digits > MOST_DIGITS) return 'other'
      const kept = Math.min(digits, MICRO_DIGITS)
      micros = number(bytes, start, kept) * 10 ** (MICRO_DIGITS - kept)
      isPlain &&= digits <= MICRO_DIGITS && bytes[at - 1] !== ZERO
    }
    const offset = offsetSeconds(bytes, at, to)
    if (offset === undefined) return 'other'
    isPlain &&= at === to
    const seconds = days * DAY_SECONDS + hour * 3600 + minute * 60 + second
    // The default is the beginning of that day wherever it was written: an offset does not make it another one.
    if (seconds === DEFAULT_SECONDS && micros === 0)
      return onlyZeros(bytes, from + SECOND_LENGTH + 1, at) ? 'absent' : 'other'
    return this.#set(isDay ? seconds : seconds - offset, micros, isPlain ? 'plain' : 'unlike')
  }

  /** Keeps seconds and microseconds as 64 bits, without a number that a double cannot hold. */
  #set(seconds: number, micros: number, form: InstantForm): InstantForm {
    const upper = Math.floor(seconds / TWO_16)
    const product = upper * 1e6
    const shifted = Math.floor(product / TWO_16)
    const rest = (product - shifted * TWO_16) * TWO_16 + (seconds - upper * TWO_16) * 1e6 + micros
    const carry = Math.floor(rest / TWO_32)
    this.low = rest - carry * TWO_32
    this.high = shifted + carry
    return form
  }
}

const DAY_SECONDS = 86_400

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE

/** The number that so many digits are; NaN where another character stands among them. */
const number = (bytes: Uint8Array, at: number, digits: number): number => {
  let value = 0
  for (let end = at + digits; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (!isDigit(byte)) return Number.NaN
    value = value * 10 + byte - ZERO
  }
  return value
}

const onlyZeros = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (bytes[at] !== ZERO) return false
  return true
}

/** Seconds of a zone, `Z` or `+hh:mm`, or none; undefined for what is no zone. */
const offsetSeconds = (bytes: Uint8Array, at: number, to: number): number | undefined => {
  if (at === to) return 0
  const sign = bytes[at]
  if (sign === LETTER_Z && at + 1 === to) return 0
  if ((sign !== PLUS && sign !== MINUS) || at + 6 !== to || bytes[at + 3] !== COLON) return undefined
  const hours = number(bytes, at + 1, 2)
  const minutes = number(bytes, at + 4, 2)
  if (!(hours >= 0 && hours <= MOST_OFFSET_HOURS && minutes >= 0 && minutes <= 59)) return undefined
  return (sign === MINUS ? -1 : 1) * (hours * 3600 + minutes * 60)
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const daysIn = (year: number, month: number): number => {
  if (month === 2) return isLeap(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
const daysSince1970 = (year: number, month: number, day: number): number => {
  const before = year - 1
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400)
  const inYear = DAYS_BEFORE_MONTH[month - 1]! + (month > 2 && isLeap(year) ? 1 : 0) + day - 1
  return before * 365 + leapDays + inYear - DAYS_BEFORE_1970
}
const DAYS_BEFORE_1970 = 719_162
const DEFAULT_SECONDS = -DAYS_BEFORE_1970 * DAY_SECONDS

/** The quick way through a time series: nine of ten bytes of a company are one. */

import { SURE_CHARACTERS } from './exact-figures.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const CLOSE_BRACE = 0x7d

/**
 * End of a series in the plain form `{"2020":1.5,"2021":-3}`: no white space, ascending years, numbers without
 * exponent; negative where one of the numbers has more than `SURE_CHARACTERS`. 0 where it has another form, which is
 * for the careful way to judge.
 */
export const plainSeriesEnd = (buffer: Buffer, view: DataView, open: number): number => {
  const last = buffer.length - 8
  let at = open + 1
  let yearBefore = YEAR_1000 - 1
  let longest = 0
  while (at < last) {
    if (buffer[at] !== QUOTE || buffer[at + 5] !== QUOTE || buffer[at + 6] !== COLON) return 0
    // Four digits as one number sort like the year they spell.
    const year = view.getInt32(at + 1)
    if (year <= yearBefore || !isFourDigits(year)) return 0
    yearBefore = year
    at += 7
    const first = at
    if (buffer[at] === MINUS) at++
    const whole = at
    while (at < last && isFourDigits(view.getInt32(at))) at += 4
    let byte = buffer[at]!
    while (byte >= ZERO && byte <= NINE) byte = buffer[++at]!
    if (at === whole || (buffer[whole] === ZERO && at > whole + 1)) return 0
    if (byte === POINT) {
      const fraction = ++at
      byte = buffer[at]!
      while (byte >= ZERO && byte <= NINE) byte = buffer[++at]!
      if (at === fraction) return 0
    }
    const characters = at - first
    if (characters > longest) longest = characters
    at++
    if (byte === CLOSE_BRACE) return longest <= SURE_CHARACTERS ? at : longest <= MOST_CHARACTERS ? -at : 0
    if (byte !== COMMA) return 0
  }
  return 0
}
const YEAR_1000 = 0x31303030
/** A longer number may not be finite. */
const MOST_CHARACTERS = 290
const isFourDigits = (bytes: number): boolean =>
  ((bytes & 0xf0f0f0f0) | 0) === 0x30303030 && (((bytes + 0x06060606) & 0xf0f0f0f0) | 0) === 0x30303030

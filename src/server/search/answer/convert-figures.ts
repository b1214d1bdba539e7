/** Figures of one company from its currency into another, year by year. Knows JSON, not where documents are stored. */

import { CATEGORIES, LINE_ITEMS } from '../../../contract/line-items.ts'
import {
  isClosing,
  isOpening,
  isSpace,
  JSON_BYTES,
  skipSpace,
  skipText,
} from '../../../support/json-bytes.ts'

const { CLOSE_BRACKET, COLON, COMMA, MINUS, POINT, QUOTE, ZERO } = JSON_BYTES

/** The factor of a fiscal year. */
export type FactorOf = (fiscalYear: number) => number | undefined

/** Line items that are money, by the category they belong to: elsewhere the same name means something else. */
const MONEY: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  CATEGORIES.map((category) => [
    category,
    new Set(
      LINE_ITEMS.filter((item) => item.category === category && item.isMoney).map(
        ({ lineItem }): string => lineItem,
      ),
    ),
  ]),
)

/** How deep the keys of categories, line items and years stand in the members. */
const CATEGORY_DEPTH = 1
const ITEM_DEPTH = 2
const YEAR_DEPTH = 3

/** The byte at a place; 0 behind the end. */
const byteAt = (json: Buffer, at: number): number => json[at] ?? 0
const isDigit = (byte: number): boolean => byte >= ZERO && byte <= ZERO + 9
/** Bytes of a number in valid JSON: digits, a point, an exponent with its sign. */
const isInNumber = (byte: number): boolean =>
  isDigit(byte) || byte === POINT || byte === MINUS || byte === 0x65 || byte === 0x45 || byte === 0x2b

/** The year of four digits that stands between two places; 0 for another key. */
const yearBetween = (json: Buffer, from: number, to: number): number => {
  if (to - from !== 4) return 0
  let year = 0
  for (let at = from; at < to; at += 1) {
    const byte = byteAt(json, at)
    if (!isDigit(byte)) return 0
    year = year * 10 + byte - ZERO
  }
  return year >= 1000 ? year : 0
}

/** Digits that are exact as a whole number, and powers of ten that are exact: their quotient is the nearest double. */
const EXACT_DIGITS = 15
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, power) => 10 ** power)

/** The number between two places. Those of few digits are read without making a text of them. */
const numberBetween = (json: Buffer, from: number, to: number): number => {
  const isNegative = json[from] === MINUS
  let digits = 0
  let whole = 0
  let decimals = 0
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const byte = byteAt(json, at)
    if (isDigit(byte)) {
      whole = whole * 10 + byte - ZERO
      digits += 1
      if (decimals > 0) decimals += 1
    } else if (byte === POINT) decimals = 1
    else digits = Number.POSITIVE_INFINITY
  }
  if (digits > EXACT_DIGITS) return Number(json.toString('latin1', from, to))
  const value = decimals > 1 ? whole / (POWERS[decimals - 1] ?? 1) : whole
  return isNegative ? -value : value
}

/** Money in the members: where each figure's key begins, where its number stands, and what becomes of it. */
interface Figures {
  readonly starts: number[]
  readonly froms: number[]
  readonly tos: number[]
  /** Not finite where it is left out. */
  readonly values: number[]
}

const moneyIn = (members: Buffer, factorOf: FactorOf): Figures => {
  const figures: Figures = { starts: [], froms: [], tos: [], values: [] }
  let depth = 0
  let money: ReadonlySet<string> | undefined
  let isMoney = false
  for (let at = 0; at < members.length; at += 1) {
    const byte = byteAt(members, at)
    if (isOpening(byte)) depth += 1
    else if (isClosing(byte)) depth -= 1
    if (byte !== QUOTE) continue
    const start = at
    at = skipText(members, start) - 1
    const colon = skipSpace(members, at + 1)
    if (members[colon] !== COLON) continue
    if (depth <= CATEGORY_DEPTH) {
      // The level above ends here: a list in its place has no keys that would say so.
      money = depth === CATEGORY_DEPTH ? MONEY.get(members.toString('utf8', start + 1, at)) : undefined
      isMoney = false
    } else if (depth === ITEM_DEPTH) isMoney = money?.has(members.toString('utf8', start + 1, at)) === true
    if (depth !== YEAR_DEPTH || !isMoney) continue
    const year = yearBetween(members, start + 1, at)
    if (year === 0) continue
    const from = skipSpace(members, colon + 1)
    let to = from
    while (isInNumber(byteAt(members, to))) to += 1
    if (to === from) continue
    figures.starts.push(start)
    figures.froms.push(from)
    figures.tos.push(to)
    figures.values.push(numberBetween(members, from, to) * (factorOf(year) ?? Number.NaN))
    at = to - 1
  }
  return figures
}

/** Output buffer; grows with the longest document. */
let written = Buffer.allocUnsafeSlow(1 << 16)

/**
 * The members `"Financials":{…},"UnconsolidatedFinancials":{…}` with the contract's amounts and per-share figures
 * converted; all else stays as it is written. A figure that becomes too large for a number is left out: what is not
 * known is absent.
 *
 * Walks the bytes: parsing the members and writing them again takes longer (years as keys make slow objects) and gives
 * numbers back that nobody converted in another form.
 *
 * @param members as in a company document: valid JSON, without a comma around them
 * @example convertFigures(Buffer.from('"Financials":{"ProfitAndLoss":{"NetSales":{"2023":10}}}'), () => 2) // … {"2023":20}
 */
export const convertFigures = (members: Buffer, factorOf: FactorOf): Buffer => {
  const { starts, froms, tos, values } = moneyIn(members, factorOf)
  // Figures are converted at once, because most of the time goes into the digits: one by one they take twice as long.
  const numbers = JSON.stringify(values)
  const room = members.length + numbers.length
  if (room > written.length) written = Buffer.allocUnsafeSlow(2 * room)
  const result = written
  let out = 0
  let copied = 0
  let digit = 1 // behind the bracket
  for (let index = 0; index < tos.length; index += 1) {
    const to = tos[index] ?? 0
    const isLeftOut = numbers.charCodeAt(digit) === NULL
    const end = (isLeftOut ? starts[index] : froms[index]) ?? 0
    while (copied < end) result[out++] = byteAt(members, copied++)
    if (isLeftOut) {
      digit += 'null,'.length
      copied = skipSpace(members, to)
      // A comma goes with the member: the one behind it, or for the last one that before it.
      if (members[copied] === COMMA) copied += 1
      else out = withoutComma(result, out)
    } else {
      copied = to
      let code = numbers.charCodeAt(digit++)
      for (; code !== COMMA && code !== CLOSE_BRACKET; code = numbers.charCodeAt(digit++))
        result[out++] = code
    }
  }
  out += members.copy(result, out, copied)
  return Buffer.from(result.subarray(0, out))
}

/** First letter of `null`, which stands for what is not finite. */
const NULL = 0x6e

/** The end of what is written without a comma and the space behind it. */
const withoutComma = (json: Buffer, end: number): number => {
  let at = end - 1
  while (isSpace(byteAt(json, at))) at -= 1
  return json[at] === COMMA ? at : end
}

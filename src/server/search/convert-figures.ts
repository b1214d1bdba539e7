/** Figures of one company from its currency into another, year by year. Knows JSON, not where documents stand. */

import { CATEGORIES, LINE_ITEMS } from '../../contract/line-items.ts'

/** The factor of a fiscal year. */
export type FactorOf = (fiscalYear: number) => number | undefined

/** Line items that are money, by the category they belong to: elsewhere the same name means something else. */
const MONEY: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  CATEGORIES.map((category) => [
    category,
    new Set(
      LINE_ITEMS.filter((item) => item.category === category)
        .filter(({ unit }) => unit === 'amount' || unit === 'per share')
        .map(({ lineItem }): string => lineItem),
    ),
  ]),
)

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d]

/** How deep the keys of categories, line items and years stand in the members. */
const CATEGORY_DEPTH = 1
const ITEM_DEPTH = 2
const YEAR_DEPTH = 3

/** Where a text of JSON ends whose first quote stands at `from`: the place of the last quote. */
const textEnd = (json: string, from: number): number => {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return json.length
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)
const afterSpace = (json: string, from: number): number => {
  let at = from
  while (isSpace(json.charCodeAt(at))) at += 1
  return at
}

const ZERO = 0x30
const isDigit = (code: number): boolean => code >= ZERO && code <= ZERO + 9
/** Where a number that begins at `from` ends; `from` itself where there is none. */
const numberEnd = (json: string, from: number): number => {
  if (json.charCodeAt(from) !== 0x2d && !isDigit(json.charCodeAt(from))) return from
  let at = from + 1
  // Of JSON that is valid: digits, a point, an exponent with its sign.
  for (let code = json.charCodeAt(at); isDigit(code) || isInNumber(code); code = json.charCodeAt(at)) at += 1
  return at
}
const isInNumber = (code: number): boolean =>
  code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d

/** The year of four digits that stands between two places; 0 for another key. */
const yearBetween = (json: string, from: number, to: number): number => {
  if (to - from !== 4) return 0
  let year = 0
  for (let at = from; at < to; at += 1) {
    const code = json.charCodeAt(at)
    if (!isDigit(code)) return 0
    year = year * 10 + code - ZERO
  }
  return year >= 1000 ? year : 0
}

/**
 * The members `"Financials":{…},"UnconsolidatedFinancials":{…}` with the contract's amounts and per-share figures
 * converted; all else stays as it is written. A figure that becomes too large for a number is left out: what is not
 * known is absent.
 *
 * Walks the text: parsing it and writing it again takes 1.6 times as long (years as keys make slow objects) and gives
 * numbers back that nobody converted in another form.
 *
 * @param members as in a company document: valid JSON, without a comma around them
 * @example convertFigures('"Financials":{"ProfitAndLoss":{"NetSales":{"2023":10}}}', () => 2) // … {"2023":20}
 */
export const convertFigures = (members: string, factorOf: FactorOf): string => {
  let converted = ''
  let copied = 0
  let depth = 0
  let money: ReadonlySet<string> | undefined
  let isMoney = false
  for (let at = 0; at < members.length; at += 1) {
    const code = members.charCodeAt(at)
    if (code === OPEN || code === OPEN_LIST) depth += 1
    else if (code === CLOSE || code === CLOSE_LIST) depth -= 1
    if (code !== QUOTE) continue
    const start = at
    at = textEnd(members, start)
    const colon = afterSpace(members, at + 1)
    if (members.charCodeAt(colon) !== COLON) continue
    if (depth === CATEGORY_DEPTH) money = MONEY.get(members.slice(start + 1, at))
    else if (depth === ITEM_DEPTH) isMoney = money?.has(members.slice(start + 1, at)) === true
    if (depth !== YEAR_DEPTH || !isMoney) continue
    const year = yearBetween(members, start + 1, at)
    const from = afterSpace(members, colon + 1)
    const to = year === 0 ? from : numberEnd(members, from)
    if (to === from) continue
    const value = Number(members.slice(from, to)) * (factorOf(year) ?? Number.NaN)
    at = to - 1
    if (Number.isFinite(value)) {
      converted += members.slice(copied, from) + String(value)
      copied = to
    } else {
      converted += members.slice(copied, start)
      copied = afterSpace(members, to)
      // One comma goes with the member: the one behind it, or for the last one that before it.
      if (members.charCodeAt(copied) === COMMA) copied += 1
      else converted = converted.replace(/,\s*$/, '')
    }
  }
  return converted + members.slice(copied)
}

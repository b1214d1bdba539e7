/**
 * Finds the scaled figures for which DuckDB's double does not do: it is rounded, and the scale would be applied to
 * what is left. Reads a record again that passed the checks, and only one that has figures with many digits.
 */

import { LINE_ITEMS } from '../contract/line-items.ts'
import { shiftDecimal, shiftNumber } from '../support/shift-decimal.ts'
import { type JsonScan, notFinite } from './json-scan.ts'

/** A figure of a record with its scale applied. */
export interface ExactFigure {
  /** Field of the record: `Financials` or `UnconsolidatedFinancials`. */
  readonly statement: string
  readonly category: string
  readonly lineItem: string
  readonly fiscalYear: string
  readonly value: number
}

/** Where a record's figures of one field stand in the buffer, braces included. */
export interface StatementRange {
  readonly field: string
  readonly from: number
  readonly to: number
}

const SCALED = new Set(
  LINE_ITEMS.filter(({ scaled }) => scaled).map(({ category, lineItem }) => `${category}.${lineItem}`),
)

/** A number of so many characters has at most 15 digits: no other one so short is read as the same double. */
export const SURE_CHARACTERS = 15
/** From here on the largest scale makes a figure infinite. */
const LARGE = 1e299

/**
 * The figures of a record whose value does not follow from the double that their text is read as.
 * @param power of the record's scale, 1 to 9
 * @throws {Rejection} NOT_FINITE where a scaled figure is larger than any number
 */
export const exactFigures = (
  scan: JsonScan,
  statements: readonly StatementRange[],
  power: number,
): readonly ExactFigure[] => {
  const found: ExactFigure[] = []
  for (const { field, from, to } of statements) {
    // A text of each figure taken from the bytes would cost more than all else.
    const text = scan.buffer.toString('latin1', from, to)
    scan.start(scan.buffer, from, to)
    eachMember(scan, (categoryStart, categoryEnd) => {
      const category = scan.textOf(categoryStart, categoryEnd)
      eachMember(scan, (itemStart, itemEnd) => {
        const lineItem = scan.textOf(itemStart, itemEnd)
        const isScaled = SCALED.has(`${category}.${lineItem}`)
        eachMember(scan, (yearStart, yearEnd) => {
          const quote = scan.token() === 'text' ? 1 : 0
          const start = scan.at + quote
          const hasExponent = skipFigure(scan)
          const end = scan.at - quote
          if (!isScaled || (!hasExponent && end - start <= SURE_CHARACTERS)) return
          const written = text.slice(start - from, end - from)
          const figure = Number(written)
          if (String(figure) === written && Math.abs(figure) < LARGE) return
          const fiscalYear = scan.textOf(yearStart, yearEnd)
          const value = shiftDecimal(written, power)
          if (!Number.isFinite(value)) throw notFinite(`${field}.${category}.${lineItem}.${fiscalYear}`)
          if (value !== shiftNumber(figure, power)) {
            found.push({ statement: field, category, lineItem, fiscalYear, value })
          }
        })
      })
    })
  }
  return found
}

/** Calls `use` with where each key of the object at the cursor stands, the cursor on its value, which it steps over. */
const eachMember = (scan: JsonScan, use: (keyStart: number, keyEnd: number) => void): void => {
  if (!scan.openObject()) return
  do {
    scan.peek()
    const start = scan.at + 1
    scan.skipKey()
    if (scan.token() === 'null') scan.skipWord()
    else use(start, scan.keyEnd)
  } while (scan.moreMembers())
}

/** Steps over a number. Whether it may have an exponent: in quotes it is not looked for. */
const skipFigure = (scan: JsonScan): boolean => {
  if (scan.token() !== 'text') return scan.skipNumber() === 'check'
  scan.skipText()
  return true
}

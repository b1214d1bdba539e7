/**
 * Rates as CSV text: `currency,year,units_per_usd`, strict, so that no figure is converted by a misread rate. The file in a lake
 * begins with the hash of all bytes behind it, so a shorter file is never taken for the whole.
 */

import { ToolkitError } from '../../core/errors.ts'
import { sha256Of } from '../../support/hash.ts'
import { BASE_CURRENCY, type RateTable } from './rates.ts'

const HEADER = 'currency,year,units_per_usd'
const LINE = /^([A-Z]{3}),([1-9]\d{3}),(\d{1,12}(?:\.\d{1,15})?)$/

const unreadable = (name: string, line: number, problem: string): ToolkitError =>
  new ToolkitError('RATES_UNREADABLE', `Cannot read rates "${name}": line ${line} ${problem}`, { name, line })

/**
 * Rates of a CSV text. Lines may end in CRLF; currencies are three capital letters, years four digits, rates above 0
 * with a decimal point.
 * @param name names the file in errors
 * @throws {ToolkitError} RATES_UNREADABLE, with the line's number
 */
export const readRatesCsv = (text: string, name: string): RateTable => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  if (lines[0] !== HEADER) throw unreadable(name, 1, `is not the header, expected "${HEADER}"`)
  const table = new Map<string, Map<number, number>>()
  for (const [at, line] of lines.entries()) {
    if (at === 0) continue
    const [, currency = '', year, units] = LINE.exec(line) ?? []
    const unitsPerUsd = Number(units)
    if (!(unitsPerUsd > 0)) throw unreadable(name, at + 1, 'is no rate, expected one like "SEK,2024,10.57"')
    if (currency === BASE_CURRENCY) {
      throw unreadable(name, at + 1, `gives a rate for ${BASE_CURRENCY}, expected only other currencies`)
    }
    const years = table.get(currency) ?? new Map<number, number>()
    table.set(currency, years)
    if (years.has(Number(year)))
      throw unreadable(name, at + 1, `repeats ${currency} in ${year}, expected it once`)
    years.set(Number(year), unitsPerUsd)
  }
  return table
}

/** The text of a table, by currency and year; `readRatesCsv` gives the same table again. */
export const ratesCsv = (table: RateTable): string =>
  [
    HEADER,
    ...[...table]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([currency, years]) =>
        [...years]
          .toSorted(([a], [b]) => a - b)
          .map(([year, units]) => `${currency},${year},${decimal(units)}`),
      ),
    '',
  ].join('\n')

/** Without an exponent, which small numbers would have. */
const decimal = (units: number): string => {
  const text = String(units)
  return /e/.test(text) ? units.toFixed(15).replace(/0+$/, '') : text
}

const HASH_LINE = /^# sha256 ([0-9a-f]{64})\n/

export const ratesFileText = (csvText: string): string => `# sha256 ${sha256Of(csvText)}\n${csvText}`

/** The CSV; `null` where it is not what was written. */
export const readRatesFile = (bytes: Buffer): string | null => {
  const [line = '', sha256] = HASH_LINE.exec(bytes.subarray(0, 80).toString('latin1')) ?? []
  const rest = bytes.subarray(line.length)
  return sha256Of(rest) === sha256 ? rest.toString('utf8') : null
}

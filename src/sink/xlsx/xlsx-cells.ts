/**
 * Values as cells of a sheet, so that nothing changes in a spreadsheet: a number of more digits than it keeps, and a time
 * that it cannot hold, are texts. A text is a text, whatever it begins with.
 */

import type { RowColumn } from '../../core/sink.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { instant, jsonValue } from '../json-values.ts'

/** What a cell holds; times are UTC. */
export type Cell = string | number | boolean | Date | null

/** The most characters (UTF-16) of a cell. */
export const MOST_CHARACTERS = 32_767
/** Digits that a spreadsheet keeps of a number. */
const MOST_DIGITS = 15

const DIGITS = /^(U?(BIG|HUGE)INT|DECIMAL\(.*\)|BIGNUM)$/
const NUMBER = /^(U?(TINY|SMALL)INT|U?INTEGER|FLOAT|DOUBLE|BOOLEAN)$/
const NESTED = /\[\d*\]$|^(STRUCT|MAP|UNION)\(/
/** How a spreadsheet shows the times of a column of a type. */
const TIMES: Readonly<Record<string, string>> = {
  DATE: 'yyyy-mm-dd',
  TIMESTAMP: 'yyyy-mm-dd hh:mm:ss.000',
  'TIMESTAMP WITH TIME ZONE': 'yyyy-mm-dd hh:mm:ss.000',
}

/** The column in SQL, as `toCell` takes its values. */
export const cellColumn = ({ name, type }: RowColumn): string => {
  const value = ident(name)
  return DIGITS.test(type) || NUMBER.test(type) ? value : `${cellText(value, type)} AS ${value}`
}

const cellText = (value: string, type: string): string => {
  if (type === 'TIMESTAMP WITH TIME ZONE') return instant(value, 'Z')
  if (type === 'TIMESTAMP') return instant(value, '')
  return NESTED.test(type) ? `to_json(${jsonValue(value, type)})::VARCHAR` : `${value}::VARCHAR`
}

/** How a spreadsheet shows the times of a column; empty for one without. */
export const timeFormat = (type: string): string => TIMES[type] ?? ''

/** A number by its digits: more than a spreadsheet keeps stay a text. */
const ofDigits = (text: string): Cell => {
  const significant = text.replaceAll(/[-.]/g, '').replaceAll(/^0+|0+$/g, '')
  return significant.length > MOST_DIGITS ? text : Number(text)
}

/** Before it a spreadsheet's calendar has a day that there never was; it has no year 10000. */
const FIRST_DAY = Date.UTC(1900, 2, 1)
const AFTER_LAST_DAY = Date.UTC(10_000, 0, 1)
/** A day, or an instant in whole milliseconds. */
const WHOLE_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z?)?$/

const ofTime = (text: string): Cell => {
  if (!WHOLE_TIME.test(text)) return text
  const time = new Date(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text)
  return time.getTime() >= FIRST_DAY && time.getTime() < AFTER_LAST_DAY ? time : text
}

/** What a reader of sheets takes for a character's code (`_x000D_`), and what XML has no sign for. */
const CODE_LIKE = /_(?=x[0-9A-Fa-f]{4}_)/g
const NO_XML = /[\ufffe\uffff]/g

/** A text as a reader of the sheet reads it back. */
export const sheetText = (text: string): string =>
  text
    .replace(CODE_LIKE, '_x005F_')
    .replace(NO_XML, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase()}_`)

/** A value of a `cellColumn` of that type, as the engine gives it. */
export const toCell = (value: unknown, type: string): Cell => {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null
  if (DIGITS.test(type)) return ofDigits(String(value))
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return type in TIMES ? ofTime(String(value)) : String(value)
}

/** The beginning of a text that a cell has room for, with `…` at its end. */
export const shortened = (text: string): string => {
  const cut = text.slice(0, MOST_CHARACTERS - 1)
  // Half of a pair is no character.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

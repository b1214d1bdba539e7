/**
 * Rows as records of RFC 4180, made by DuckDB: quotes only where needed, NULL as nothing, an empty text as `""`.
 * A text that a spreadsheet would take for a formula gets an apostrophe before it.
 */

import type { RowColumn } from '../core/sink.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { FORMULA, FORMULA_STARTS, neutralise } from '../support/formula-text.ts'
import { instant, jsonValue } from './json-values.ts'

const NUMBER = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|BIGNUM)$/
const NESTED = /\[\d*\]$|^(STRUCT|MAP|UNION)\(/

/** A text with quotes where RFC 4180 needs them. */
const quoted = (text: string): string =>
  `CASE WHEN ${text} = '' OR regexp_matches(${text}, '[",\\r\\n]') THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END`

const neutralised = (text: string): string =>
  `CASE WHEN regexp_matches(${text}, ${literal(FORMULA)}) THEN '''' || ${text} ELSE ${text} END`

// Most texts are plain: one match finds them, and DuckDB takes it once for each entry of a dictionary.
const textCell = (text: string, neutral: boolean): string => {
  const plain = `[^${neutral ? `'${FORMULA_STARTS}` : ''}",\\r\\n][^",\\r\\n]*`
  const other = quoted(neutral ? neutralised(text) : text)
  return `CASE WHEN regexp_full_match(${text}, ${literal(plain)}) THEN ${text} ELSE ${other} END`
}

/** A value as a cell; NULL stays NULL. */
const cell = ({ name, type }: RowColumn, neutral: boolean): string => {
  const value = ident(name)
  if (NUMBER.test(type) || type === 'BOOLEAN' || type === 'DATE') return value
  if (type === 'TIMESTAMP WITH TIME ZONE') return instant(value, 'Z')
  if (type === 'TIMESTAMP') return instant(value, '')
  if (NESTED.test(type)) return quoted(`to_json(${jsonValue(value, type)})::VARCHAR`)
  return textCell(type === 'VARCHAR' ? value : `${value}::VARCHAR`, neutral)
}

/** The record of the columns' names, without a line end. */
export const csvHeader = (columns: readonly RowColumn[], neutral: boolean): string =>
  columns
    .map(({ name }) => (neutral ? neutralise(name) : name))
    .map((name) => (name === '' || /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
    .join(',')

/** Each row as a record, with the CR of its line end: LF is the writer's. */
export const csvRecord = (columns: readonly RowColumn[], neutral: boolean): string =>
  `concat(${columns.map((column) => cell(column, neutral)).join(", ',', ")}, chr(13))`

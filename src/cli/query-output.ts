/** Prints the rows of a query as a table, as one JSON array, or as CSV; the last two in bounded memory. */

import { formatCount } from './format.ts'
import { note, print, printLines } from './output.ts'
import { textTable } from './text-table.ts'

export const RESULT_FORMATS = ['table', 'json', 'csv'] as const
export type ResultFormat = (typeof RESULT_FORMATS)[number]

/** Columns with DuckDB's type names, and rows chunk by chunk. */
export interface ResultRows {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: AsyncIterable<readonly (readonly unknown[])[]>
}

/** Rows of a table by default: its widths are known only when all of it is in memory. */
export const MOST_TABLE_ROWS = 1000

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL)\b(?!.*\[)/

/** A value as one text; NULL is empty. */
const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? jsonText(value) : String(value)
}

/** A 64-bit integer keeps all its digits. */
const jsonText = (value: unknown): string => {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${jsonText(one)}`)
  return `{${members.join(',')}}`
}

/** RFC 4180; an empty text is `""`, so that NULL can be told from it. */
const csvText = (value: unknown): string => {
  const text = cellText(value)
  return /["\r\n,]/.test(text) || value === '' ? `"${text.replaceAll('"', '""')}"` : text
}

const csvLine = (values: readonly unknown[]): string => `${values.map(csvText).join(',')}\r\n`

/** Names that occur twice get a number, so that a row object keeps every value. */
const distinctNames = (names: readonly string[]): string[] => {
  const seen = new Set<string>()
  return names.map((name) => {
    let distinct = name
    for (let number = 1; seen.has(distinct); number += 1) distinct = `${name}_${number}`
    seen.add(distinct)
    return distinct
  })
}

/** Chunks of at most `limit` rows in all; reads no further than needed. */
async function* firstRows(rows: ResultRows['rows'], limit: number): ResultRows['rows'] {
  let left = limit
  for await (const chunk of rows) {
    yield chunk.slice(0, left)
    left -= chunk.length
    if (left <= 0) return
  }
}

const printTable = async ({ columns, rows }: ResultRows, limit: number): Promise<void> => {
  const cells: string[][] = []
  for await (const chunk of firstRows(rows, limit + 1)) for (const row of chunk) cells.push(row.map(cellText))
  const titles = columns.map(({ name, type }) => ({ title: name, right: NUMERIC.test(type) }))
  await printLines(textTable(titles, cells.slice(0, limit)))
  if (cells.length > limit)
    note(`There are more than ${formatCount(limit)} rows: --limit shows more, --format csv or json all.`)
}

const printJsonRows = async ({ columns, rows }: ResultRows, limit: number): Promise<void> => {
  const names = distinctNames(columns.map(({ name }) => name)).map((name) => JSON.stringify(name))
  let separator = '[\n'
  for await (const chunk of firstRows(rows, limit)) {
    let text = ''
    for (const row of chunk) {
      text += `${separator}{${names.map((name, column) => `${name}:${jsonText(row[column])}`).join(',')}}`
      separator = ',\n'
    }
    await print(text)
  }
  await print(separator === '[\n' ? '[]\n' : '\n]\n')
}

const printCsv = async ({ columns, rows }: ResultRows, limit: number): Promise<void> => {
  await print(csvLine(columns.map(({ name }) => name)))
  for await (const chunk of firstRows(rows, limit)) await print(chunk.map(csvLine).join(''))
}

const PRINTERS = { table: printTable, json: printJsonRows, csv: printCsv } as const

/** Prints at most `limit` rows. @default of `limit` 1000 for a table, else all */
export const printResult = (result: ResultRows, format: ResultFormat, limit?: number): Promise<void> =>
  PRINTERS[format](result, limit ?? (format === 'table' ? MOST_TABLE_ROWS : Number.POSITIVE_INFINITY))

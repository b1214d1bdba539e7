/** Prints the rows of a query as a table, one JSON array, CSV or Markdown; all but the table in bounded memory. */

import { jsonText } from '../../lake/duckdb/json-text.ts'
import type { QueryResult } from '../../lake/query/lake-query.ts'
import { MOST_TABLE_ROWS } from '../../options/query.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { neutralise, neutraliseJson } from '../../support/formula-text.ts'
import { note, print, printLines } from './print.ts'
import { fitTable, printable, type TextColumn, textTable } from './text-table.ts'

type ValueColumn = QueryResult['columns'][number]

/** How rows are printed. */
interface PrintOptions {
  /** Most rows. */
  readonly limit: number
  /** Columns of the terminal that a table is cut to. */
  readonly width: number
  /** CSV: safe for spreadsheets. */
  readonly neutral: boolean
  /** A table for a person at a terminal: with types and NULL. */
  readonly atTerminal: boolean
  /** Many rows of such a table are shown by the first and the last, where no limit was asked for. */
  readonly shortens: boolean
}

/** A value as one text; NULL is empty. */
const cellText = (value: unknown, { shape }: ValueColumn): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? jsonText(value, shape) : String(value)
}

/** RFC 4180; an empty text is `""`, so that NULL is distinct from it. */
const csvText = (text: string, value: unknown): string =>
  /["\r\n,]/.test(text) || value === '' ? `"${text.replaceAll('"', '""')}"` : text

/** Values that are safe for a spreadsheet: numbers as they are, which may begin with a sign; texts are no formulas. */
const spreadsheetText = (value: unknown, column: ValueColumn): string => {
  const text = cellText(value, column)
  if (column.shape.kind === 'number') return text
  return typeof value === 'object' ? neutraliseJson(text) : neutralise(text)
}

const csvHeader = (columns: readonly ValueColumn[], neutral: boolean): string =>
  `${columns.map(({ name }) => csvText(neutral ? neutralise(name) : name, name)).join(',')}\r\n`

const csvLine = (
  values: readonly unknown[],
  columns: readonly ValueColumn[],
  textOf: typeof cellText,
): string => `${columns.map((column, at) => csvText(textOf(values[at], column), values[at])).join(',')}\r\n`

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
async function* firstRows(rows: QueryResult['rows'], limit: number): QueryResult['rows'] {
  let left = limit
  for await (const chunk of rows) {
    yield chunk.slice(0, left)
    left -= chunk.length
    if (left <= 0) return
  }
}

const titlesOf = (columns: readonly ValueColumn[]): readonly TextColumn[] =>
  columns.map(({ name, shape }) => ({ title: name, right: shape.kind === 'number' }))

const NULL = 'NULL'
/** Rows at either end of a table at a terminal; those between are left out. */
const END_ROWS = 20
const DOTS = '·'

const terminalTitlesOf = (columns: readonly ValueColumn[]): readonly TextColumn[] =>
  titlesOf(columns).map((title, at) => ({
    ...title,
    type: columns[at]?.type.toLowerCase() ?? '',
    colour: (text) => (text === NULL || text === DOTS ? 'dim' : undefined),
  }))

/** The first and the last of many rows, and dots between them. */
const ends = (cells: readonly string[][]): readonly string[][] =>
  cells.length <= 2 * END_ROWS + 1
    ? cells
    : [...cells.slice(0, END_ROWS), (cells[0] ?? []).map(() => DOTS), ...cells.slice(-END_ROWS)]

const cutNote = (shortened: number, excluded: number, columns: number): string =>
  [
    ...(shortened > 0 ? [`${formatCounted(shortened, 'column')} shortened`] : []),
    ...(excluded > 0 ? [`${formatCount(excluded)} of ${formatCounted(columns, 'column')} left out`] : []),
  ].join(', ')

const printTable = async (
  { columns, rows }: QueryResult,
  { limit, width, atTerminal, shortens }: PrintOptions,
): Promise<void> => {
  const cells: string[][] = []
  const textOf = (value: unknown, column: ValueColumn): string =>
    atTerminal && (value === null || value === undefined) ? NULL : cellText(value, column)
  for await (const chunk of firstRows(rows, limit + 1))
    for (const row of chunk) cells.push(columns.map((column, at) => textOf(row[at], column)))
  const all = cells.slice(0, limit)
  const isCut = cells.length > limit
  const shown = !shortens ? all : isCut ? all.slice(0, 2 * END_ROWS) : ends(all)
  const fitted = fitTable(atTerminal ? terminalTitlesOf(columns) : titlesOf(columns), shown, width)
  await printLines(textTable(fitted.columns, fitted.rows))
  if (shown.length < all.length && !isCut)
    note(`${formatCounted(all.length, 'row')}, ${2 * END_ROWS} shown: --limit ${all.length} shows all.`)
  const cut = cutNote(fitted.shortened, fitted.excluded, columns.length)
  if (cut !== '') note(`Cut to a width of ${formatCount(width)}: ${cut}; --format csv or json shows all.`)
  if (isCut)
    note(
      `There are more than ${formatCount(shown.length)} rows: --limit shows more, --format csv or json all.`,
    )
}

const printMarkdown = async ({ columns, rows }: QueryResult, { limit }: PrintOptions): Promise<void> => {
  await print(markdownHead(titlesOf(columns)))
  for await (const chunk of firstRows(rows, limit))
    await print(
      chunk.map((row) => markdownLine(columns.map((column, at) => cellText(row[at], column)))).join(''),
    )
}

const printJsonRows = async ({ columns, rows }: QueryResult, { limit }: PrintOptions): Promise<void> => {
  const distinct = distinctNames(columns.map(({ name }) => name))
  const cells = columns.map(({ shape }, at) => ({ name: JSON.stringify(distinct[at]), shape }))
  let separator = '[\n'
  for await (const chunk of firstRows(rows, limit)) {
    let text = ''
    for (const row of chunk) {
      text += `${separator}{${cells.map(({ name, shape }, at) => `${name}:${jsonText(row[at], shape)}`).join(',')}}`
      separator = ',\n'
    }
    await print(text)
  }
  await print(separator === '[\n' ? '[]\n' : '\n]\n')
}

const printCsv = async ({ columns, rows }: QueryResult, { limit, neutral }: PrintOptions): Promise<void> => {
  await print(csvHeader(columns, neutral))
  const textOf = neutral ? spreadsheetText : cellText
  for await (const chunk of firstRows(rows, limit))
    await print(chunk.map((row) => csvLine(row, columns, textOf)).join(''))
}

const PRINTERS = { table: printTable, json: printJsonRows, csv: printCsv, markdown: printMarkdown } as const

/** @default of `limit` 1000 for a table, else all; of `width` the terminal's, where standard output is one */
export const printResult = (
  result: QueryResult,
  format: keyof typeof PRINTERS,
  options: { readonly [Name in keyof PrintOptions]?: PrintOptions[Name] | undefined } = {},
): Promise<void> => {
  const {
    limit = format === 'table' ? MOST_TABLE_ROWS : Number.POSITIVE_INFINITY,
    // A terminal that does not say how wide it is says 0.
    width = process.stdout.columns || Number.POSITIVE_INFINITY,
    neutral = true,
    atTerminal = process.stdout.isTTY === true,
    shortens = atTerminal && options.limit === undefined,
  } = options
  return PRINTERS[format](result, { limit, width, neutral, atTerminal, shortens })
}

/** Characters that begin or end markup; an underscore within a word (`company_name`) is none. */
const MARKUP = /[\\`*[\]<>&|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu

const cell = (text: string): string =>
  text
    .split(/\r\n|[\r\n]/)
    .map((line) => printable(line).replace(MARKUP, '\\$&'))
    .join('<br>')

export const markdownLine = (strings: readonly string[]): string => `| ${strings.map(cell).join(' | ')} |\n`

/** The titles, and the line below them that says which columns stand to the right. */
export const markdownHead = (columns: readonly TextColumn[]): string =>
  `${markdownLine(columns.map(({ title }) => title))}| ${columns.map(({ right }) => (right ? '--:' : '---')).join(' | ')} |\n`

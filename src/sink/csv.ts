/**
 * CSV: rows as records of RFC 4180 made by DuckDB, and a sink of CSV files. Quotes stand only where needed, NULL is
 * nothing and an empty text `""`; what a spreadsheet would take for a formula gets an apostrophe before it.
 */

import type { CopyFormat, DeliverySink, RowColumn, Sink, TableRows } from '../core/sink.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { CELL_ENDS, FORMULA, FORMULA_SIGNS, neutralise } from '../support/formula-text.ts'
import { withDeliveredRuns } from './delivered-runs.ts'
import {
  type CsvDelimiter,
  type FileFormat,
  type FormatOptions,
  writeStrings,
  writtenFile,
} from './file-format.ts'
import { folderSink, withRows } from './folder-sink.ts'
import { instant, jsonValue } from './json-lines.ts'

const NUMBER = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|BIGNUM)$/
export const NESTED = /\[\d*\]$|^(STRUCT|MAP|UNION)\(/

/** A text with quotes where RFC 4180 needs them. */
const quoted = (text: string, delimiter: string): string =>
  `CASE WHEN ${text} = '' OR regexp_matches(${text}, '["${delimiter}\\r\\n]') THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END`

const neutralised = (text: string, instead = "\\1''\\2"): string =>
  `regexp_replace(${text}, ${literal(FORMULA)}, '${instead}', 'g')`

// Most texts are plain: one match finds them, and DuckDB takes it once for each entry of a dictionary.
const textCell = (text: string, neutral: boolean, delimiter: string): string => {
  const plain = neutral
    ? `[^ '${FORMULA_SIGNS}"${delimiter}${CELL_ENDS}][^"${delimiter}${CELL_ENDS}]*`
    : `[^"${delimiter}\\r\\n]+`
  const other = quoted(neutral ? neutralised(text) : text, delimiter)
  return `CASE WHEN regexp_full_match(${text}, ${literal(plain)}) THEN ${text} ELSE ${other} END`
}

/** A value as a cell; NULL stays NULL. */
const cell = ({ name, type }: RowColumn, neutral: boolean, delimiter: string): string => {
  const value = ident(name)
  if (NUMBER.test(type) || type === 'BOOLEAN' || type === 'DATE') return value
  if (type === 'TIMESTAMP WITH TIME ZONE') return instant(value, 'Z')
  if (type === 'TIMESTAMP') return instant(value, '')
  if (NESTED.test(type)) {
    const json = `to_json(${jsonValue(value, type)})::VARCHAR`
    // A semicolon that JSON escapes leaves the value what it is.
    return quoted(neutral ? neutralised(json, String.raw`\\u003b\2`) : json, delimiter)
  }
  return textCell(type === 'VARCHAR' ? value : `${value}::VARCHAR`, neutral, delimiter)
}

/** The record of the columns' names, without a line end. */
export const csvHeader = (
  columns: readonly RowColumn[],
  neutral: boolean,
  delimiter: CsvDelimiter = ',',
): string =>
  columns
    .map(({ name }) => (neutral ? neutralise(name) : name))
    .map((name) =>
      name === '' || /["\r\n]/.test(name) || name.includes(delimiter)
        ? `"${name.replaceAll('"', '""')}"`
        : name,
    )
    .join(delimiter)

/** Each row as a record, with the CR of its line end: LF is the writer's. */
const csvRecord = (columns: readonly RowColumn[], neutral: boolean, delimiter: CsvDelimiter): string =>
  `concat(${columns.map((column) => cell(column, neutral, delimiter)).join(`, '${delimiter}', `)}, chr(13))`

/** The mark by which a spreadsheet knows UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/** How texts are written as CSV. */
export interface CsvOptions {
  /**
   * Puts an apostrophe before what a spreadsheet would take for a formula: `=`, `+`, `-`, `@` and their full-width forms,
   * at the begin of a text and behind a semicolon, a tab or a line end. @default true
   */
  readonly neutralise?: boolean | undefined
}

type CsvText = Pick<FormatOptions, 'neutralise' | 'delimiter' | 'bom'>

/** Rows are written as whole records: DuckDB's own writer ends lines with LF alone. */
export const CSV_FORMAT = {
  kind: 'csv',
  nullText: '',
  header: true,
  wholeRecords: true,
} as const satisfies CopyFormat

/**
 * Rows as records of RFC 4180 in one column, whose name is the header; to be written in `CSV_FORMAT`, which puts the
 * LF behind each CR.
 */
export const csvRelation = async (
  rows: TableRows,
  { neutralise = true, delimiter = ',', bom = false }: CsvText = {},
): Promise<TableRows> => {
  // Names that occur twice in a statement are distinguished only by one around it.
  const relation = rows.select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  const header = `${bom ? BYTE_ORDER_MARK : ''}${csvHeader(columns, neutralise, delimiter)}\r`
  const record = csvRecord(columns, neutralise, delimiter)
  return relation.select((from) => `SELECT ${record} AS ${ident(header)} FROM ${from}`)
}

const csvFolder = (name: 'csv' | 'csv.gz', directory: string, options: CsvOptions): Sink =>
  withRows(
    folderSink({ name, directory, formatOf: () => ({ ...CSV_FORMAT, gzip: name === 'csv.gz' }) }),
    (rows) => csvRelation(rows, options),
  )

const writeCsv = async (path: string, rows: TableRows, options: CsvText, gzip: boolean) => {
  const records = await csvRelation(rows, options)
  return writtenFile(path, (await records.copyTo(path, { ...CSV_FORMAT, gzip })).rows)
}

/** UTF-8 without a byte order mark, lines end with CRLF, NULL is an empty cell and an empty text `""`. */
export const csvFormat = {
  folder: (directory, options) => csvFolder('csv', directory, options),
  write: (path, rows, options) => writeCsv(path, rows, options, false),
  stream: async (target, rows, options) => {
    const records = await csvRelation(rows, options)
    const [column] = await records.columns()
    const strings = records.select((from) => `SELECT COLUMNS(*) || chr(10) AS record FROM ${from}`)
    return writeStrings(target, `${column?.name ?? ''}\n`, strings, options)
  },
} as const satisfies FileFormat

/** The same, compressed with gzip. */
export const csvGzipFormat = {
  folder: (directory, options) => csvFolder('csv.gz', directory, options),
  write: (path, rows, options) => writeCsv(path, rows, options, true),
} as const satisfies FileFormat

/**
 * CSV files in a folder as a sink, `<table>/load=<run>/<partition>.csv`: all versions of each record. RFC 4180 with a
 * header, UTF-8, NULL as an empty cell.
 *
 * @param directory made where it is missing, or `s3://bucket/prefix`
 * @throws {ToolkitError} `TARGET_REFUSED` for a lake or a folder of another format, `DISK_FULL`, `WRITE_FAILED`, of the
 *   work with it
 * @example
 * import { convert, csv } from 'firmlake'
 *
 * const { delivered } = await convert({ from: ['batches/'], lake: './lake', sinks: [csv('out/csv')] })
 * console.log(delivered[0]?.runs.length) // 1
 */
export const csv = (directory: string, options: CsvOptions = {}): DeliverySink =>
  withDeliveredRuns(csvFormat.folder(directory, options), directory)

/** CSV files in a folder: `<table>/load=<run>/<partition>.csv`, staged out of sight until commit. */

import type { Sink } from '../core/sink.ts'
import type { CopyFormat, TableRows } from '../core/table-rows.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { csvHeader, csvRecord } from './csv-records.ts'
import { type FileFormat, writtenFile } from './file-format.ts'
import { folderSink, withRows } from './folder-sink.ts'
import { writeTexts } from './write-texts.ts'

export interface CsvOptions {
  /**
   * Puts an apostrophe before texts that a spreadsheet would take for a formula: such as begin with `=`, `+`, `-`, `@`,
   * a tab or CR, also with the full-width forms of these signs. @default true
   */
  readonly neutralise?: boolean | undefined
}

export interface CsvSinkOptions extends CsvOptions {
  /** Folder for the files; made where it is missing. */
  readonly directory: string
}

/** What is written is whole records: DuckDB's own writer ends lines with LF alone. */
export const CSV_FORMAT: CopyFormat = { kind: 'csv', nullText: '', header: true, wholeRecords: true }

/**
 * Rows as records of RFC 4180 in one column, whose name is the header; to be written in `CSV_FORMAT`, which puts the
 * LF behind each CR.
 */
export const csvRelation = async (
  rows: TableRows,
  { neutralise = true }: CsvOptions = {},
): Promise<TableRows> => {
  // Names that occur twice in a statement are told apart only by one around it.
  const relation = rows.select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  const header = ident(`${csvHeader(columns, neutralise)}\r`)
  return relation.select((from) => `SELECT ${csvRecord(columns, neutralise)} AS ${header} FROM ${from}`)
}

/** UTF-8 without a byte order mark, lines end with CRLF, NULL is an empty cell and an empty text `""`. */
export const csvSink = ({ directory, ...options }: CsvSinkOptions): Sink => {
  const sink = folderSink({ name: 'csv', directory, formatOf: () => CSV_FORMAT })
  return withRows(sink, (rows) => csvRelation(rows, options))
}

export const csv = {
  folder: (directory, { neutralise }) => csvSink({ directory, neutralise }),
  write: async (path, rows, { neutralise }) => {
    const records = await csvRelation(rows, { neutralise })
    return writtenFile(path, (await records.copyTo(path, CSV_FORMAT)).rows)
  },
  stream: async (target, rows, options) => {
    const records = await csvRelation(rows, options)
    const [column] = await records.columns()
    const texts = records.select((from) => `SELECT COLUMNS(*) || chr(10) AS record FROM ${from}`)
    return writeTexts(target, `${column?.name ?? ''}\n`, texts, options)
  },
} as const satisfies FileFormat

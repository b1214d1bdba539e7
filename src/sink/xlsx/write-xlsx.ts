/**
 * Rows as a workbook of Excel, in bounded memory. Values are cells in which nothing changes: a number of more digits
 * than a spreadsheet keeps, and a time that it cannot hold, are texts.
 */

import { ToolkitError, writeError } from '../../core/errors.ts'
import type { RowColumn, TableRows } from '../../core/sink.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import { NESTED } from '../csv.ts'
import type { FileFormat, WrittenFile } from '../file-format.ts'
import { instant, jsonValue } from '../json-lines.ts'
import {
  type Cell,
  MOST_CHARACTERS,
  MOST_SHEET_COLUMNS,
  MOST_SHEET_ROWS,
  type SheetColumn,
  sheetText,
  shortened,
  Workbook,
  WorkbookTooLarge,
} from './workbook.ts'

/** Digits that a spreadsheet keeps of a number. */
const MOST_DIGITS = 15

const DIGITS = /^(U?(BIG|HUGE)INT|DECIMAL\(.*\)|BIGNUM)$/
const NUMBER = /^(U?(TINY|SMALL)INT|U?INTEGER|FLOAT|DOUBLE|BOOLEAN)$/
/** How a spreadsheet shows the times of a column of a type. */
const TIMES: Readonly<Record<string, string>> = {
  DATE: 'yyyy-mm-dd',
  TIMESTAMP: 'yyyy-mm-dd hh:mm:ss.000',
  'TIMESTAMP WITH TIME ZONE': 'yyyy-mm-dd hh:mm:ss.000',
}

/** The column in SQL, as `toCell` takes its values. */
const cellColumn = ({ name, type }: RowColumn): string => {
  const value = ident(name)
  return DIGITS.test(type) || NUMBER.test(type) ? value : `${cellText(value, type)} AS ${value}`
}

const cellText = (value: string, type: string): string => {
  if (type === 'TIMESTAMP WITH TIME ZONE') return instant(value, 'Z')
  if (type === 'TIMESTAMP') return instant(value, '')
  return NESTED.test(type) ? `to_json(${jsonValue(value, type)})::VARCHAR` : `${value}::VARCHAR`
}

const INTEGER = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/
/** Columns whose whole numbers name something: ids, numbers, years, codes. */
const NAMING = /(^|_)(id|no|year|code|version|snapshot|line|offset)$/
const PLAIN = '0'
const GROUPED = '#,##0'
/** An amount below is shown with its decimals. */
const ROUNDED_FROM = 1000

/** How a spreadsheet shows the values of a column. */
const formatOf = ({ name, type }: RowColumn): SheetColumn['formatOf'] => {
  if (type in TIMES) return (cell) => (cell instanceof Date ? (TIMES[type] ?? '') : '')
  if (INTEGER.test(type)) {
    const format = NAMING.test(name) ? PLAIN : GROUPED
    return (cell) => (typeof cell === 'number' ? format : '')
  }
  return (cell) =>
    typeof cell === 'number' && (Number.isInteger(cell) || Math.abs(cell) >= ROUNDED_FROM) ? GROUPED : ''
}

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

/** A value of a `cellColumn` of that type, as the engine gives it. */
export const toCell = (value: unknown, type: string): Cell => {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null
  if (DIGITS.test(type)) return ofDigits(String(value))
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return type in TIMES ? ofTime(String(value)) : String(value)
}

export interface WriteXlsxOptions {
  /** Names the sheets. @default 'export' */
  readonly name?: string | undefined
  /** Rows of a sheet, with the one of the titles. @default 1_048_576, the most that there are */
  readonly sheetRows?: number | undefined
}

const MOST_NAME = 31

/** A name as sheets may have one. */
const sheetName = (table: string): string => {
  const name = table.replace(/[[\]:*?/\\\p{Cc}]|^'|'$/gu, '_').slice(0, MOST_NAME)
  return name === '' || name.toLowerCase() === 'history' ? `_${name}` : name
}

/** Rows written so far, and texts that were cut. */
interface Counts {
  rows: number
  shortened: number
}

async function* cellsOf(
  rows: TableRows,
  columns: readonly RowColumn[],
  counts: Counts,
): AsyncGenerator<Cell[]> {
  const fitting = (cell: Cell): Cell => {
    if (typeof cell !== 'string') return cell
    if (cell.length <= MOST_CHARACTERS) return sheetText(cell)
    counts.shortened += 1
    return sheetText(shortened(cell))
  }
  for await (const chunk of rows.rows())
    for (const row of chunk) {
      counts.rows += 1
      yield columns.map(({ name, type }) => fitting(toCell(row[name], type)))
    }
}

const refuse = (table: string, why: string): never => {
  throw new ToolkitError('TARGET_REFUSED', `Cannot write "${table}" as xlsx: ${why}`)
}

const warningsOf = (table: string, counts: Counts, sheetRows: number): readonly string[] => {
  const sheets = Math.ceil(counts.rows / (sheetRows - 1))
  return [
    ...(sheets > 1
      ? [`"${table}" has ${counts.rows} rows, more than a sheet holds: they stand on ${sheets} sheets`]
      : []),
    ...(counts.shortened > 0
      ? [
          `"${table}" has ${counts.shortened} texts longer than the ${MOST_CHARACTERS} characters of a cell: they end with …`,
        ]
      : []),
  ]
}

/** Rows that become a sheet, opened when the ones before are written. */
export interface SheetRows {
  /** Names the sheet. */
  readonly name: string
  readonly open: () => Promise<TableRows>
}

/** Writes the rows of one relation to sheets. */
const writeSheets = async (
  workbook: Workbook,
  { name: table, open }: SheetRows,
  sheetRows: number,
): Promise<WrittenFile> => {
  // Names that occur twice in a statement are distinguished only by one around it.
  const relation = (await open()).select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  if (columns.length > MOST_SHEET_COLUMNS)
    refuse(table, `it has ${columns.length} columns, expected at most ${MOST_SHEET_COLUMNS}`)
  const cells = relation.select((from) => `SELECT ${columns.map(cellColumn).join(', ')} FROM ${from}`)
  const counts: Counts = { rows: 0, shortened: 0 }
  const titled = columns.map((column) => ({ title: sheetText(column.name), formatOf: formatOf(column) }))
  const before = workbook.bytes
  await workbook.addSheets(sheetName(table), titled, cellsOf(cells, columns, counts), sheetRows)
  return {
    ...{ rows: counts.rows, bytes: workbook.bytes - before },
    warnings: warningsOf(table, counts, sheetRows),
  }
}

/**
 * Writes relations to a new workbook, which is not synced: one sheet each, and further ones where it is full, with bold titles,
 * a filter, widths and number formats.
 *
 * @returns of each relation its rows, the bytes of its sheets and warnings
 * @throws {ToolkitError} `TARGET_REFUSED` for more columns than a sheet has, or a sheet of more than 4 GiB, `DISK_FULL`,
 *   `WRITE_FAILED`; the engine's own errors of the rows pass through
 */
export const writeWorkbook = async (
  path: string,
  relations: readonly SheetRows[],
  sheetRows = MOST_SHEET_ROWS,
): Promise<readonly WrittenFile[]> => {
  const failed = (error: unknown): never => {
    throw writeError(`Cannot write "${path}"`, error)
  }
  const file = await openFile(path, FILE_FLAGS.new).catch(failed)
  const written: WrittenFile[] = []
  try {
    const workbook = new Workbook((bytes) => file.writeFile(bytes).catch(failed))
    for (const one of relations) written.push(await writeSheets(workbook, one, sheetRows))
    await workbook.finish()
  } catch (error) {
    if (error instanceof WorkbookTooLarge)
      refuse(path, 'it has more than 4 GiB, expected fewer rows or columns, or another format')
    throw error
  } finally {
    await file.close()
  }
  return written
}

/** Writes all rows to a new workbook, as `writeWorkbook` does. */
export const writeXlsx = async (
  path: string,
  rows: TableRows,
  { name = 'export', sheetRows }: WriteXlsxOptions = {},
): Promise<WrittenFile> => {
  const [written] = await writeWorkbook(path, [{ name, open: async () => rows }], sheetRows)
  return written ?? { rows: 0, bytes: 0 }
}

/** Sheets with titles; numbers and times as such where a spreadsheet can hold them, else as texts. */
export const xlsxFormat = {
  write: (path, rows, { name }) => writeXlsx(path, rows, { name }),
  writeAll: (path, relations) => writeWorkbook(path, relations),
} as const satisfies FileFormat

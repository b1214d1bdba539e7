/** Rows as a workbook of Excel, in bounded memory. What knows the library is loaded only when one is written. */

import { writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET } from 'hucre/xlsx'
import { ToolkitError, writeError } from '../../core/errors.ts'
import type { RowColumn, TableRows } from '../../core/sink.ts'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import type { WrittenFile } from '../file-format.ts'
import {
  type Cell,
  cellColumn,
  MOST_CHARACTERS,
  sheetText,
  shortened,
  timeFormat,
  toCell,
} from './xlsx-cells.ts'

export interface WriteXlsxOptions {
  /** Names the sheets. @default 'export' */
  readonly name?: string | undefined
  /** Rows of a sheet, with the one of the titles. @default 1_048_576, the most that there are */
  readonly sheetRows?: number | undefined
}

const MOST_COLUMNS = 16_384
const MOST_NAME = 31

/** A name as sheets may have one. */
const sheetName = (table: string): string => {
  const name = table.replace(/[[\]:*?/\\\p{Cc}]|^'|'$/gu, '_').slice(0, MOST_NAME)
  return name === '' || name.toLowerCase() === 'history' ? `_${name}` : name
}

/** What was written so far, and what a person should know of it. */
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

/**
 * Writes all rows to a new file, which is not synced: one sheet, and further ones where it is full, each with the titles.
 *
 * @throws {ToolkitError} `TARGET_REFUSED` for more columns than a sheet has, or a sheet of more than 4 GiB, `DISK_FULL`,
 *   `WRITE_FAILED`; the engine's own errors of the rows pass through
 */
export const writeXlsx = async (
  path: string,
  rows: TableRows,
  { name: table = 'export', sheetRows = XLSX_MAX_ROWS_PER_SHEET }: WriteXlsxOptions = {},
): Promise<WrittenFile> => {
  // Names that occur twice in a statement are distinguished only by one around it.
  const relation = rows.select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  if (columns.length > MOST_COLUMNS)
    refuse(table, `it has ${columns.length} columns, expected at most ${MOST_COLUMNS}`)
  const cells = relation.select((from) => `SELECT ${columns.map(cellColumn).join(', ')} FROM ${from}`)
  const counts: Counts = { rows: 0, shortened: 0 }
  const failed = (error: unknown): never => {
    throw writeError(`Cannot write "${path}"`, error)
  }
  const file = await openFile(path, FILE_FLAGS.new).catch(failed)
  let bytes = 0
  try {
    const workbook = writeXlsxStream(cellsOf(cells, columns, counts), {
      name: sheetName(table),
      columns: columns.map(({ name, type }) => ({ header: sheetText(name), numFmt: timeFormat(type) })),
      freezePane: { rows: 1 },
      maxRowsPerSheet: sheetRows,
    })
    for await (const part of workbook) {
      await file.writeFile(part).catch(failed)
      bytes += part.byteLength
    }
  } catch (error) {
    // The library's own class of errors is not among its exports.
    if (error instanceof Error && error.name === 'ZipError')
      refuse(table, 'a sheet has more than 4 GiB, expected fewer rows or columns, or another format')
    throw error
  } finally {
    await file.close()
  }
  return { rows: counts.rows, bytes, warnings: warningsOf(table, counts, sheetRows) }
}

/** A company as a workbook of Excel: its details, its figures by year as they are, and the restated ones. */

import type { ReportRow } from '../../../report/rows.ts'
import {
  type Cell,
  MOST_CHARACTERS,
  MOST_SHEET_ROWS,
  type SheetColumn,
  sheetText,
  shortened,
  Workbook,
} from '../../../sink/xlsx/workbook.ts'
import { type Reader, Unanswered } from './fragment.ts'

const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join('; ') : String(value)
  return sheetText(text.length > MOST_CHARACTERS ? shortened(text) : text)
}

const plain = (...titles: readonly string[]): readonly SheetColumn[] =>
  titles.map((title) => ({ title, formatOf: () => '' }))

const numbers = (titles: readonly string[]): readonly SheetColumn[] =>
  titles.map((title) => ({
    title,
    formatOf: (cell) => (typeof cell === 'number' && Number.isInteger(cell) ? '#,##0' : ''),
  }))

interface Sheet {
  readonly name: string
  readonly columns: readonly SheetColumn[]
  readonly rows: readonly (readonly unknown[])[]
}

const companySheet = (details: ReportRow, snapshot: number): Sheet => ({
  name: 'Company',
  columns: plain('Detail', 'Value'),
  rows: [['snapshot', snapshot], ...Object.entries(details).filter(([, value]) => value !== null)],
})

const LINE = ['consolidation', 'category', 'line_item', 'name', 'unit', 'currency'] as const

/** A row a line item, a column a year, the newest first. */
const figuresSheet = (figures: readonly ReportRow[]): Sheet => {
  const years = [...new Set(figures.map((row) => Number(row.fiscal_year)))].sort((a, b) => b - a)
  const lines = Map.groupBy(figures, (row) => JSON.stringify(LINE.map((name) => row[name])))
  const rows = [...lines.values()].map((own) => {
    const values = new Map(own.map((row) => [Number(row.fiscal_year), row.value]))
    return [...LINE.map((name) => own[0]?.[name]), ...years.map((year) => values.get(year))]
  })
  return { name: 'Figures', columns: [...plain(...LINE), ...numbers(years.map(String))], rows }
}

const restatedSheet = (figures: readonly ReportRow[]): readonly Sheet[] => {
  const rows = figures.flatMap((row) =>
    (Array.isArray(row.earlier) ? row.earlier : []).map((one) => [
      ...LINE.map((name) => row[name]),
      ...[row.fiscal_year, one.value, one.currency, one.until_snapshot, one.until, row.value],
    ]),
  )
  const columns = [
    ...plain(...LINE, 'fiscal_year'),
    ...numbers(['earlier_value']),
    ...plain('earlier_currency', 'until_snapshot', 'until'),
    ...numbers(['value']),
  ]
  return rows.length === 0 ? [] : [{ name: 'Restated', columns, rows }]
}

async function* cellsOf(rows: Sheet['rows']): AsyncGenerator<readonly Cell[]> {
  for (const row of rows) yield row.map(cellOf)
}

const workbookOf = async (sheets: readonly Sheet[]): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  const workbook = new Workbook(async (bytes) => {
    parts.push(bytes)
  })
  for (const { name, columns, rows } of sheets)
    await workbook.addSheets(name, columns, cellsOf(rows), MOST_SHEET_ROWS)
  await workbook.finish()
  return Buffer.concat(parts)
}

/** @throws {Unanswered} `unknown` where the reader sees no such company */
export const companyWorkbook = async (
  reader: Pick<Reader, 'ask'>,
  company: { readonly id: number | string },
): Promise<Buffer> => {
  const details = await reader.ask('company', company)
  const figures = await reader.ask('figures', company)
  // A newer snapshot came between.
  if (details.snapshot !== figures.snapshot) return companyWorkbook(reader, company)
  const [row] = details.rows
  if (row === undefined) throw new Unanswered({ kind: 'unknown' })
  const { rows } = figures
  return workbookOf([companySheet(row, details.snapshot), figuresSheet(rows), ...restatedSheet(rows)])
}

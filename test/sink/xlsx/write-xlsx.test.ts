import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { type WriteXlsxOptions, writeWorkbook, writeXlsx } from '../../../src/sink/xlsx/write-xlsx.ts'
import { needs } from '../../support/needs.ts'
import { openPython, openpyxlMissing, type PythonSession } from '../../support/readers.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let python: PythonSession | undefined
beforeAll(async () => {
  if (openpyxlMissing() === undefined) python = await openPython()
  return () => python?.close()
})

const openSession = async (): Promise<Session> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  return engine.connect()
}

const written = async (sql: string, options?: WriteXlsxOptions) => {
  const session = await openSession()
  const path = join(await temporaryFolder(), 'rows.xlsx')
  return { path, ...(await writeXlsx(path, session.relation(sql), options)) }
}

interface Sheet {
  readonly name: string
  readonly frozen: string
  /** A value and its kind: `n` a number, `s` a text, `d` a time, `f` a formula. */
  readonly rows: readonly (readonly (readonly [value: unknown, kind: string])[])[]
}

/** As openpyxl reads a workbook, with the texts' codes of characters read as Excel does. */
const READ = `
import datetime, openpyxl
from openpyxl.utils.escape import unescape
def value(cell):
    if isinstance(cell.value, datetime.datetime):
        return cell.value.isoformat()
    return unescape(cell.value) if isinstance(cell.value, str) else cell.value
result = [
    {'name': sheet.title, 'frozen': sheet.freeze_panes,
     'rows': [[[value(cell), cell.data_type] for cell in row] for row in sheet.iter_rows()]}
    for sheet in openpyxl.load_workbook(input)
]
`

test('writeXlsx writes what another reader reads: numbers, times and texts, and no formula', async (context) => {
  needs(context, 'openpyxl', openpyxlMissing())
  const { path, rows, warnings } = await written(
    `SELECT '=cmd|''/c calc''!A1' AS "=h", '+1' AS plus, 9007199254740993 AS big, 0.1::DOUBLE + 0.2 AS d,
      DATE '2024-02-29' AS day, TIMESTAMPTZ '2024-02-29 23:59:59.123+02' AS instant,
      'a_x000D_b' || chr(13) || chr(10) || chr(1) || ' ' AS t, ['x', NULL] AS l, true AS b, NULL AS x,
      ' Øresund 日本 <&>"' AS u, '007' AS zeros, 1 AS "=h"`,
    { name: 'a/b[c]' },
  )
  expect([rows, warnings]).toEqual([1, []])
  const [sheet, ...others] = (await python?.run<Sheet[]>(READ, path)) ?? []
  expect([sheet?.name, sheet?.frozen, others]).toEqual(['a_b_c_', 'A2', []])
  const titles = ['=h', 'plus', 'big', 'd', 'day', 'instant', 't', 'l', 'b', 'x', 'u', 'zeros', '=h_1']
  expect(sheet?.rows[0]?.map(([value]) => value)).toEqual(titles)
  expect(sheet?.rows[1]).toEqual([
    ["=cmd|'/c calc'!A1", 's'],
    ['+1', 's'],
    ['9007199254740993', 's'],
    [0.30000000000000004, 'n'],
    ['2024-02-29T00:00:00', 'd'],
    ['2024-02-29T21:59:59.123000', 'd'],
    ['a_x000D_b\r\n\u0001 ', 's'],
    ['["x",null]', 's'],
    [true, 'b'],
    [null, 'n'],
    [' Øresund 日本 <&>"', 's'],
    ['007', 's'],
    [1, 'n'],
  ])
})

test('writeXlsx goes on with a further sheet where one is full, and says so', async (context) => {
  needs(context, 'openpyxl', openpyxlMissing())
  const { path, rows, warnings } = await written('SELECT i AS id FROM range(7) AS t (i) ORDER BY i', {
    name: 'figures',
    sheetRows: 4,
  })
  const sheets = (await python?.run<Sheet[]>(READ, path)) ?? []
  expect(sheets.map(({ name, rows: of }) => [name, ...of.flat().map(([value]) => value)])).toEqual([
    ['figures', 'id', 0, 1, 2],
    ['figures_2', 'id', 3, 4, 5],
    ['figures_3', 'id', 6],
  ])
  expect([rows, warnings]).toEqual([
    7,
    ['"figures" has 7 rows, more than a sheet holds: they stand on 3 sheets'],
  ])
})

/** How openpyxl says that a workbook looks. */
const LOOK = `
import openpyxl
result = [
    {'name': sheet.title, 'frozen': sheet.freeze_panes, 'filter': sheet.auto_filter.ref,
     'bold': [cell.font.bold for cell in sheet[1]], 'plain': [cell.font.bold for cell in sheet[2]],
     'formats': [cell.number_format for cell in sheet[2]],
     'widths': [sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]]}
    for sheet in openpyxl.load_workbook(input)
]
`

test('writeWorkbook writes a sheet for each relation, with bold titles, a filter, widths and formats', async (context) => {
  needs(context, 'openpyxl', openpyxlMissing())
  const session = await openSession()
  const path = join(await temporaryFolder(), 'all.xlsx')
  const relation = (name: string, sql: string) => ({ name, open: async () => session.relation(sql) })
  const amounts = `SELECT 12::BIGINT AS internal_id, 2024::SMALLINT AS fiscal_year, 1234567.0::DOUBLE AS value, 0.25::DOUBLE AS share,
    98765.4321::DOUBLE AS exact, 7::BIGINT AS companies, DATE '2024-02-29' AS day, 'a long name of a company' AS company_name`
  const done = await writeWorkbook(path, [
    relation('figures', amounts),
    relation('none', 'SELECT 1 AS id WHERE false'),
  ])
  expect(done.map(({ rows }) => rows)).toEqual([1, 0])
  const [sheet, none] = (await python?.run<Record<string, unknown>[]>(LOOK, path)) ?? []
  expect(sheet).toMatchObject({ name: 'figures', frozen: 'A2', filter: 'A1:H2' })
  expect([sheet?.bold, sheet?.plain]).toEqual([Array(8).fill(true), Array(8).fill(false)])
  expect(sheet?.formats).toEqual(['0', '0', '#,##0', 'General', '#,##0', '#,##0', 'yyyy-mm-dd', 'General'])
  expect(sheet?.widths).toEqual([16, 16, 11, 10, 15, 14, 11, 25])
  expect(none).toMatchObject({ name: 'none', filter: 'A1:A1', bold: [true] })
})

test('writeXlsx shortens a text that no cell has room for, and counts it', async () => {
  const { warnings } = await written(`SELECT repeat('x', 32767 + i::INTEGER) AS t FROM range(3) AS t (i)`)
  expect(warnings).toEqual([
    '"export" has 2 texts longer than the 32767 characters of a cell: they end with …',
  ])
})

test('writeXlsx passes on why rows failed, and refuses more columns than a sheet has', async () => {
  await expect(written(`SELECT error('no such row') AS x FROM range(5)`)).rejects.toThrow('no such row')
  const columns = Array.from({ length: 16_385 }, (_, at) => `0 AS c${at}`).join(', ')
  await expect(written(`SELECT ${columns}`)).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
})

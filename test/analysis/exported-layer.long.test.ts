import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { addLakeRates } from '../../src/lake/rates/lake-rates.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { copyLake } from '../support/lakes.ts'
import { cellText, questions } from './cookbook.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const inFile = async <T>(
  file: string,
  use: (session: Session) => Promise<T>,
  mode = ' (READ_ONLY)',
): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  const session = await engine.connect()
  try {
    await session.run(`ATTACH '${file}' AS firms${mode}; USE firms`)
    return await use(session)
  } finally {
    // An open connection keeps the file, and may write to it when it is collected.
    session.close()
    engine.close()
  }
}
const ask = (file: string, sql: string): Promise<Row[]> => inFile(file, (session) => session.rows(sql))

const company = (InternalId: number, NetSales: number): object => ({
  BasicDetails: { InternalId, CountryCode: 'SE' },
  Financials: { ProfitAndLoss: { NetSales: { 2023: NetSales } } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
})
const load = (lake: string, sales: number, sinks: readonly string[] = []) =>
  convert({
    from: fromRecords('crm', [company(1, sales), company(2, 6)]),
    lake,
    again: true,
    sinks: [...sinks],
  })

test('an exported file with its history answers every question of docs/analysis.md, elsewhere and without the lake', async () => {
  const lake = await copyLake('deliveries', join(folder, 'sample'))
  const file = join(folder, 'firms.duckdb')
  await exportTables({ lake, to: file })
  await exportTables({ lake, to: file, history: true })
  await rm(lake, { recursive: true })
  await inFile(file, async (session) => {
    const versions =
      'SELECT DISTINCT version::INTEGER AS version, is_current FROM companies_history ORDER BY 1, 2'
    expect(await session.rows(versions)).toContainEqual({ version: 1, is_current: false })
    for (const { title, sql, columns, rows } of questions()) {
      const found = await session.rows(sql)
      expect([title, Object.keys(found[0] ?? {})]).toEqual([title, columns])
      expect([title, found.map((row) => Object.values(row).map(cellText))]).toEqual([title, rows])
    }
  })
}, 120_000)

test('a file that runs are delivered to has the layer of its tables, and the rates that the lake has now', async () => {
  const [lake, file] = [join(folder, 'kept'), join(folder, 'kept.duckdb')]
  await load(lake, 100, [file])
  const sales = "SELECT value FROM financials_in('EUR') WHERE internal_id = 1"
  const [{ value: before } = {}] = await ask(file, sales)
  expect(before).toBeCloseTo((100 / 10.6089) * 0.9247, 0)
  await addLakeRates(lake, 'currency,year,units_per_usd\nSEK,2023,1\nEUR,2023,2\n')
  await load(lake, 300, [file])
  expect(await ask(file, sales)).toEqual([{ value: 600 }])
  expect(await ask(file, 'SELECT count(*)::INTEGER AS n FROM runs')).toEqual([{ n: 2 }])
  // It has no versions but the current ones, and so no view that compares them.
  await expect(ask(file, 'FROM restatements')).rejects.toThrow('restatements')
  expect(await deliver({ lake, sinks: [file] })).toMatchObject([{ runs: [] }])
})

test('a file has what its tables allow; tables and views of others keep their names', async () => {
  const [lake, file] = [join(folder, 'few'), join(folder, 'few.duckdb')]
  await load(lake, 100)
  await inFile(
    file,
    (session) =>
      session.run('CREATE VIEW missing_years AS SELECT 7 AS own; CREATE TABLE headcounts AS SELECT 8 AS own'),
    '',
  )
  await exportTables({ lake, to: file, tables: ['financials'] })
  const LATEST = 'SELECT value FROM latest_figures ORDER BY 1'
  const RATE = "SELECT units_per_usd AS rate FROM rates WHERE currency = 'USD' AND year = 2023"
  expect(await ask(file, RATE)).toEqual([{ rate: 1 }])
  await expect(ask(file, LATEST)).rejects.toThrow('latest_figures')
  await exportTables({ lake, to: file, tables: ['companies', 'financials'] })
  expect(await ask(file, LATEST)).toEqual([{ value: 6 }, { value: 100 }])
  expect(await ask(file, 'FROM missing_years')).toEqual([{ own: 7 }])
  expect(await ask(file, 'FROM headcounts')).toEqual([{ own: 8 }])
  await expect(ask(file, 'FROM board_seats')).rejects.toThrow('board_seats')
  // A table takes the name of a view of ours; what the file gets later, views do.
  await exportTables({ lake, to: file, tables: ['latest_figures'], sql: 'SELECT 9 AS value' })
  expect(await ask(file, LATEST)).toEqual([{ value: 9 }])
  await exportTables({ lake, to: file })
  expect(await ask(file, 'SELECT count(*)::INTEGER AS n FROM board_seats')).toEqual([{ n: 0 }])
})

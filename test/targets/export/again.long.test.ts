/** An export into a database that shows the same rows already. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import { addLakeRates } from '../../../src/lake/rates/lake-rates.ts'
import type { ExportOptions } from '../../../src/options/interfaces.ts'
import { duckdbFile } from '../../../src/sink/duckdb-file.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { exportTables } from '../../../src/targets/export/export-tables.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const company = (InternalId: number, sales: number): object => ({
  BasicDetails: { InternalId, CountryCode: 'SE', CompanyName: `Firm ${InternalId}` },
  Financials: { ProfitAndLoss: { NetSales: { 2023: sales } } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
})

const open = (folder: string) => {
  const [lake, file] = [join(folder, 'lake'), join(folder, 'firms.duckdb')]
  let number = 0
  return {
    lake,
    file,
    load: async (...records: readonly object[]) => {
      number += 1
      await convert({ from: fromRecords(`load ${number}`, records), lake })
    },
    /** Whether the export had nothing to do. Of one table: all of them take as long again. */
    again: async (more: Partial<ExportOptions> = {}): Promise<boolean> =>
      (await exportTables({ lake, to: file, tables: ['financials'], ...more })).already === true,
    sales: async (): Promise<unknown> => {
      const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
      try {
        const session = await engine.connect()
        await session.run(`ATTACH ${literal(file)} AS db (READ_ONLY)`)
        const rows = await session.rows('SELECT internal_id, value FROM db.financials ORDER BY ALL')
        return rows.map(({ internal_id, value }) => [Number(internal_id), value])
      } finally {
        engine.close()
      }
    },
  }
}

/** A lake with a company, and a database to which it was exported. */
let first: ReturnType<typeof open>
beforeAll(async () => {
  first = open(await mkdtemp(join(tmpdir(), 'firmlake-')))
  await first.load(company(1, 10))
  expect([await first.again(), await first.again()]).toEqual([false, true])
})
afterAll(() => rm(dirname(first.lake), { recursive: true, force: true }))

const exported = async (): Promise<typeof first> => {
  const folder = await temporaryFolder()
  await cp(dirname(first.lake), folder, { recursive: true })
  return open(folder)
}

test('an export of what a database shows does nothing, until anything of it has changed', async () => {
  const one = await exported()
  expect(await one.again()).toBe(true)
  await one.load(company(1, 20), company(2, 30))
  expect([await one.again(), await one.again()]).toEqual([false, true])
  expect(await one.sales()).toEqual([
    [1, 20],
    [2, 30],
  ])
  // An older snapshot, then the newest again: neither is what stands there.
  expect([await one.again({ snapshot: 1 }), await one.again({ snapshot: 1 })]).toEqual([false, true])
  expect(await one.sales()).toEqual([
    [1, 10],
    [2, 30],
  ])
  expect([await one.again(), await one.again()]).toEqual([false, true])
  await compact({ lake: one.lake })
  expect([await one.again(), await one.again()]).toEqual([false, true])
  expect(await one.sales()).toEqual([
    [1, 20],
    [2, 30],
  ])
})

test.each<readonly [string, Partial<ExportOptions>]>([
  ['other tables', { tables: ['companies', 'financials'] }],
  ['all companies', { all: true }],
  ['columns left out', { take: { leaveOut: ['companies.email'] } }],
  ['a statement', { sql: 'SELECT random() AS number', tables: ['answer'] }],
])('an export is done that asks for %s', async (_, more) => {
  const one = await exported()
  expect(await one.again(more)).toBe(false)
  expect(await one.sales()).toEqual([[1, 10]])
  // It may have changed what the first one left.
  expect(await one.again()).toBe(false)
})

test('an export is done again with overwrite, and for other rates', async () => {
  const one = await exported()
  expect([await one.again({ overwrite: true }), await one.again()]).toEqual([false, true])
  await addLakeRates(one.lake, 'currency,year,units_per_usd\nSEK,2023,10.5\n')
  expect([await one.again(), await one.again()]).toEqual([false, true])
})

test('a sink that loads a run in between is seen', async () => {
  const one = await exported()
  await convert({
    from: fromRecords('later', [company(1, 99)]),
    lake: one.lake,
    sinks: [duckdbFile(one.file)],
  })
  expect(await one.again({ snapshot: 1 })).toBe(false)
  expect(await one.sales()).toEqual([[1, 10]])
})

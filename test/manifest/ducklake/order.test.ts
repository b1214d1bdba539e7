/** `lake.ducklake` and `lake.duckdb` of a lake in which older data came later. */

import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { missingDuckLake } from '../../support/ducklake.ts'
import { needs } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { inCatalog } from './in-catalog.ts'

const CURRENT = 'SELECT internal_id::INTEGER AS id, company_name AS name FROM companies ORDER BY ALL'
const FIGURES = 'SELECT internal_id::INTEGER AS id, value::INTEGER AS value FROM financials ORDER BY ALL'
const HISTORY = `SELECT company_name AS name, is_current FROM companies_history WHERE internal_id = 1 ORDER BY as_of, version`

/** Loads companies as of a day, whose names and figures say it. */
const load = async (lake: string, day: number, ...ids: readonly number[]): Promise<void> => {
  const records = ids.map((id) => ({
    BasicDetails: { InternalId: id, CompanyName: `of ${day}`, CountryCode: 'SE' },
    MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
    Financials: { ProfitAndLoss: { NetSales: { 2024: day } } },
  }))
  await convert({ from: fromRecords(`${day}`, records, { asOf: new Date(Date.UTC(2026, 0, day)) }), lake })
}

const named = (...days: readonly number[]) => days.map((day, at) => ({ id: at + 1, name: `of ${day}` }))
const figures = (...days: readonly (number | undefined)[]) =>
  days.map((day, at) => ({ id: at + 1, value: day }))

test('both catalogs show what was said last, whatever came later, in every snapshot', async (context: TestContext) => {
  needs(context, "DuckDB's extension ducklake", missingDuckLake())
  const lake = join(await temporaryFolder(), 'lake')
  await load(lake, 10, 1, 2)
  await load(lake, 9, 1, 2, 3)
  await load(lake, 11, 2)
  await load(lake, 8, 1, 3)
  const ask = async (attached: (sql: string) => Promise<unknown>): Promise<void> => {
    expect(await attached(CURRENT)).toEqual(named(10, 11, 9))
    expect(await attached(FIGURES)).toEqual(figures(10, 11, 9))
    expect(await attached(HISTORY)).toEqual([
      { name: 'of 8', is_current: false },
      { name: 'of 9', is_current: false },
      { name: 'of 10', is_current: true },
    ])
    for (const [day, days] of [
      [8, [8, undefined, 8]],
      [9, [9, 9, 9]],
      [10, [10, 10, 9]],
      [11, [10, 11, 9]],
    ] as const) {
      const then = `('2026-01-${String(day).padStart(2, '0')}')`
      const shown = figures(...days).filter(({ value }) => value !== undefined)
      expect(
        await attached(
          `SELECT internal_id::INTEGER AS id, value::INTEGER AS value FROM figures_as_of${then} ORDER BY ALL`,
        ),
      ).toEqual(shown)
      expect(
        await attached(`SELECT internal_id::INTEGER AS id FROM companies_as_of${then} ORDER BY ALL`),
      ).toEqual(shown.map(({ id }) => ({ id })))
    }
    expect(
      await attached(
        `SELECT s.snapshot, f.internal_id::INTEGER AS id, f.value::INTEGER AS value FROM snapshots AS s, figures_as_known((SELECT min(committed_at) FROM snapshots)) AS f WHERE s.snapshot = 1 ORDER BY ALL`,
      ),
    ).toEqual(figures(10, 10).map((row) => ({ snapshot: 1, ...row })))
    expect(
      await attached(
        'SELECT internal_id::INTEGER AS id, first_value::INTEGER AS value FROM first_reported ORDER BY ALL',
      ),
    ).toEqual(figures(8, 9, 8))
  }
  await inCatalog(lake, ask)
  const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS views (READ_ONLY); USE views`)
    await ask((sql) => session.rows(sql))
  } finally {
    engine.close()
  }
  for (const [snapshot, days] of [
    [1, [10, 10]],
    [2, [10, 10, 9]],
    [3, [10, 11, 9]],
  ] as const)
    await inCatalog(lake, async (sql) => expect(await sql(CURRENT)).toEqual(named(...days)), [
      `SNAPSHOT_VERSION ${snapshot}`,
    ])
  await compact({ lake })
  await load(lake, 7, 1, 2, 3, 4)
  await load(lake, 20, 3)
  await inCatalog(lake, async (sql) => {
    expect(await sql(CURRENT)).toEqual(named(10, 11, 20, 7))
    expect(await sql(FIGURES)).toEqual(figures(10, 11, 20, 7))
    // What a compaction has put together keeps its instants, also beside older data that came behind it.
    const rows = await sql(
      'SELECT internal_id::INTEGER AS id, company_name AS name, day(as_of)::INTEGER AS day FROM companies_history WHERE NOT is_current ORDER BY id, as_of',
    )
    expect(rows).toEqual(
      [
        ...[7, 8, 9].map((day) => [1, day]),
        ...[7, 9, 10].map((day) => [2, day]),
        ...[7, 8, 9].map((day) => [3, day]),
      ].map(([id, day]) => ({ id, name: `of ${day}`, day })),
    )
    const unlike =
      'SELECT count(*)::INTEGER AS n FROM financials_history WHERE NOT is_current AND value <> day(as_of)'
    expect(await sql(unlike)).toEqual([{ n: 0 }])
  })
})

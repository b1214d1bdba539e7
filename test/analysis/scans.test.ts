import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { openQuery } from '../../src/jobs/query.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const company = (InternalId: number, CountryCode: string): object => ({
  BasicDetails: { InternalId, CountryCode },
  Financials: { ProfitAndLoss: { NetSales: { 2023: InternalId }, EBITDA: { 2023: 1 } } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
})

/** Characters of a box in a plan. */
const BOX = 29

test('of a compacted lake the filters on the views of figures reach the files, and only what is named is read', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const from = fromRecords('crm', [company(1, 'SE'), company(2, 'NO')])
  await convert({ from, lake })
  await convert({ from, lake, again: true })
  await compact({ lake })
  const query = await openQuery({ lake })
  /** What stands in the plan about the reading of figures, without the box around it; of the names of companies nothing is read but ids. */
  const scanOf = async (sql: string): Promise<string> => {
    const [row] = await readRows(await query.run(`EXPLAIN ${sql}`))
    const plan = Object.values(row ?? {})
      .map(String)
      .find((text) => text.includes('READ_PARQUET'))
    const lines = plan?.split('\n') ?? []
    // The branches of a join stand side by side.
    const scans = [0, 1, 2].flatMap((branch) => {
      const text = lines.map((line) => line.slice(BOX * branch, BOX * (branch + 1))).join(' ')
      const plain = text.replace(/[│┌┐└┘├┤┬┴─\s]+/g, ' ')
      return plain.split('Function:').slice(1)
    })
    // Beside the figures only ids and years are read: names of companies, and the year of the latest statement.
    const isFigures = (scan: string): boolean => /Projections:[^:]* value/.test(scan)
    expect(scans.filter(isFigures).length, plan).toBeLessThan(2)
    return scans.find(isFigures) ?? scans.find((scan) => /consolidation|Filters/.test(scan)) ?? ''
  }
  const latest = await scanOf(
    "SELECT value FROM latest_figures WHERE country_code = 'SE' AND line_item IN ('NetSales', 'EBITDA')",
  )
  expect(latest).toContain("country_code='SE'")
  expect(latest).toMatch(/line_item.*'NetSales'/)
  expect(latest).not.toMatch(/as_reported|reported /)
  const wide = await scanOf(
    "SELECT internal_id, NetSales, EBITDA FROM financials_wide WHERE country_code = 'SE'",
  )
  expect(wide).toContain("country_code='SE'")
  expect(wide).toContain('value')
  expect(wide).not.toMatch(/currency|reported/)
  for (const view of ['latest_figures', 'financials_wide'])
    expect(await scanOf(`SELECT count(*) FROM ${view} WHERE internal_id = 1`)).toContain('internal_id=1')
  query.close()
})

test('of all figures none stand in memory twice: a file forgets NOT MATERIALIZED, and a FILTER passes on every column', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: fromRecords('crm', [company(1, 'SE')]), lake })
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS lake (READ_ONLY); USE lake`)
    const planOf = async (view: string): Promise<string> =>
      JSON.stringify(await session.rows(`EXPLAIN FROM ${view}`))
    expect(await planOf('quality_scale')).not.toContain('CTE')
    expect(await planOf('financials_wide')).not.toMatch(/FILTER/i)
  } finally {
    engine.close()
  }
})

/** What DuckDB's extension reads in a lake's catalog, compared with what `query` gives of the same snapshots. */

import { join } from 'node:path'
import { expect, type TestContext, test as vitestTest } from 'vitest'
import { definitionsFor } from '../../../src/analysis/definitions.ts'
import { compact } from '../../../src/jobs/compact/compact.ts'
import { convert } from '../../../src/jobs/convert/convert.ts'
import { openQuery, query } from '../../../src/jobs/query/query.ts'
import { LISTINGS, QUARANTINE, TABLES } from '../../../src/lake/tables/tables.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { listSnapshots } from '../../../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { missingDuckLake } from '../../support/ducklake.ts'
import { needs } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { inCatalog } from './in-catalog.ts'

const test = (name: string, use: () => Promise<void>): void =>
  vitestTest(name, async (context: TestContext) => {
    needs(context, "DuckDB's extension ducklake", missingDuckLake())
    await use()
  })

const SAMPLE = join(import.meta.dirname, '../../../data/sample')

const VIEWS = [
  ...TABLES.flatMap(({ name }) => [name, `${name}_history`]),
  ...['companies_all', LISTINGS.name],
  ...definitionsFor()
    .filter(({ kind }) => kind === 'view')
    .map(({ name }) => name),
]

/** Rows and their sum, whatever their order. The lines of the quarantine are not in a catalog. */
const sumOf = (view: string): string =>
  `SELECT count(*)::INTEGER AS n, coalesce(sum(hash(r::VARCHAR)::HUGEINT), 0)::VARCHAR AS sum
FROM (SELECT * ${view === QUARANTINE.name ? 'EXCLUDE (raw, raw_base64)' : ''} FROM ${view}) AS r`

type Sums = Readonly<Record<string, unknown>>

const sumsInQuery = async (lake: string, snapshot: number): Promise<Sums> => {
  const opened = await openQuery({ lake, snapshot })
  try {
    const found: Record<string, unknown> = {}
    for (const view of [...VIEWS, QUARANTINE.name])
      for await (const rows of (await opened.run(sumOf(view))).rows)
        for (const [n, sum] of rows) found[view] = { n, sum }
    return found
  } finally {
    opened.close()
  }
}

const sumsInCatalog = (lake: string, snapshot: number): Promise<Sums> =>
  inCatalog(
    lake,
    async (ask) => {
      const found: Record<string, unknown> = {}
      for (const view of VIEWS) found[view] = (await ask(sumOf(view)))[0]
      const own = sumOf(QUARANTINE.name).replace(/EXCLUDE \([^)]*\)/, '')
      return { ...found, [QUARANTINE.name]: (await ask(own))[0] }
    },
    [`SNAPSHOT_VERSION ${snapshot}`],
  )

const expectSame = async (lake: string): Promise<void> => {
  for (const snapshot of await listSnapshots(lake))
    expect([snapshot, await sumsInCatalog(lake, snapshot)]).toEqual([
      snapshot,
      await sumsInQuery(lake, snapshot),
    ])
}

const company = (InternalId: number, sales: number, more: object = {}): object => ({
  BasicDetails: { InternalId, CountryCode: 'SE', CompanyName: `Company ${InternalId}`, ...more },
  Financials: { ProfitAndLoss: { NetSales: { 2022: sales, 2023: sales + 1 } } },
  MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
})

const load = (lake: string, ...records: readonly object[]) =>
  convert({
    from: fromRecords('crm', records),
    lake,
    again: true,
    maxQuarantined: '60%',
    changeCurrency: true,
  })

test('each table and view is what query gives, at each snapshot, over loads, a compaction and a gc', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: [join(SAMPLE, '*.br')], lake })
  const again = (
    await query({ lake, sql: 'SELECT internal_id AS id FROM companies ORDER BY 1 LIMIT 40' })
  ).map(({ id }) => Number(id))
  await load(lake, ...again.map((id) => company(id, id)))
  await load(lake, company(again[0] ?? 1, 7, { Fancy: 'z' }), { broken: true }, company(5, 5))
  await compact({ lake })
  await load(lake, ...again.slice(0, 3).map((id) => company(id, 3)), company(5, 6))
  await expectSame(lake)
  await removeGarbage({ lake, now: new Date(), keep: 2 })
  await expectSame(lake)
})

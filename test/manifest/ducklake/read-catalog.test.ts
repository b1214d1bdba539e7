/** What DuckDB's extension reads in a lake's catalog, compared with what `query` gives of the same snapshots. */

import { existsSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, type TestContext, test as vitestTest } from 'vitest'
import { definitionsFor } from '../../../src/analysis/definitions.ts'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { copy } from '../../../src/jobs/copy.ts'
import { query } from '../../../src/jobs/query.ts'
import { verify } from '../../../src/jobs/verify.ts'
import type { Row } from '../../../src/lake/duckdb/engine.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { writeLakeFiles } from '../../../src/manifest/lake-file/lake-file.ts'
import { listSnapshots } from '../../../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { openPullBench } from '../../service/pull-bench.ts'
import { missingDuckLake } from '../../support/ducklake.ts'
import { needs } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { inCatalog, sumsInCatalog, sumsInQuery, TABLE_VIEWS } from './in-catalog.ts'

const test = (name: string, use: (context: TestContext) => Promise<void>): void =>
  vitestTest(name, async (context: TestContext) => {
    needs(context, "DuckDB's extension ducklake", missingDuckLake())
    await use(context)
  })

const SAMPLE = join(import.meta.dirname, '../../../data/sample')

const VIEWS = [
  ...TABLE_VIEWS,
  ...definitionsFor()
    .filter(({ kind }) => kind === 'view')
    .map(({ name }) => name),
]

/** Those that have rows in a lake without relations. */
const COMPANY_VIEWS = TABLE_VIEWS.filter((name) => !/^(relation|ownership|role)/.test(name))

/** Whether tables at all snapshots are the same for both. @param ofNewest views that are compared at the newest one */
const expectSame = async (lake: string, ofNewest = COMPANY_VIEWS, ofAll = COMPANY_VIEWS): Promise<void> => {
  const snapshots = await listSnapshots(lake)
  for (const snapshot of snapshots) {
    const views = snapshot === snapshots.at(-1) ? ofNewest : ofAll
    expect([snapshot, await sumsInCatalog(lake, snapshot, views)]).toEqual([
      snapshot,
      await sumsInQuery(lake, snapshot, views),
    ])
  }
}

const company = (InternalId: number, sales: number, more: object = {}): object => ({
  BasicDetails: { InternalId, CountryCode: 'SE', CompanyName: `Company ${InternalId}`, ...more },
  Financials: { ProfitAndLoss: { NetSales: { 2022: sales, 2023: sales + 1 } } },
  MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
})

const load = (lake: string, ...records: readonly object[]) =>
  convert({
    from: fromRecords('crm', records),
    ...{ lake, again: true, maxQuarantined: '60%', changeCurrency: true },
  })

const newLake = async (): Promise<string> => join(await temporaryFolder(), 'lake')

/** Three companies; two of them restated, then one of these again. */
const restatedLake = async (): Promise<string> => {
  const lake = await newLake()
  await load(lake, company(1, 1), company(2, 2), company(3, 3))
  await load(lake, company(1, 10), company(2, 20))
  await load(lake, company(1, 100))
  return lake
}

const SALES = 'SELECT internal_id::INTEGER AS id, value FROM financials WHERE fiscal_year = 2022 ORDER BY 1'
const RESTATED = [
  { id: 1, value: 100 },
  { id: 2, value: 20 },
  { id: 3, value: 3 },
]

test('each table and view is what query gives, at each snapshot, over loads, a compaction and a gc', async () => {
  const lake = await newLake()
  await convert({ from: [join(SAMPLE, '*-0001.jsonl.br')], lake })
  const ids = await query({ lake, sql: 'SELECT internal_id AS id FROM companies ORDER BY 1 LIMIT 40' })
  const again = ids.map(({ id }) => Number(id))
  await load(lake, ...again.map((id) => company(id, id)))
  await load(lake, company(again[0] ?? 1, 7, { Fancy: 'z' }), { broken: true }, company(5, 5))
  await compact({ lake })
  await load(lake, ...again.slice(0, 3).map((id) => company(id, 3)), company(5, 6))
  await expectSame(lake, VIEWS, TABLE_VIEWS)
  await removeGarbage({ lake, now: new Date(), keep: 2 })
  await expectSame(lake, TABLE_VIEWS, TABLE_VIEWS)
})

const REAL = resolve('../shared/data/real')

test('each table and view of real companies is what query gives', async (context) => {
  if (!existsSync(REAL)) {
    console.warn(`skipped: no "${REAL}"`)
    context.skip(`no "${REAL}"`)
  }
  const lake = await newLake()
  await convert({ from: [join(REAL, 'companies.jsonl'), join(REAL, 'relations.jsonl')], lake })
  const records = await readFile(join(REAL, 'companies.jsonl'), 'utf8')
  const again = records
    .split('\n')
    .slice(0, 5)
    .map((line): object => JSON.parse(line))
  await load(lake, ...again)
  await expectSame(lake, VIEWS, TABLE_VIEWS)
})

test('companies that are not listed any more are gone from the snapshot of the listing on, and come back', async () => {
  const all = Array.from({ length: 100 }, (_, at) => ({
    ...{ id: at + 1, country: 'SE', status: 10, lineItem: 'NetSales' },
    dates: { ContentUpdatedAt: '2026-01-01' },
  }))
  const one = await openPullBench({ companies: all })
  const pull = (): Promise<unknown> => one.pull({ pageSize: 100 })
  await pull()
  one.fake.hold(all.filter(({ id }) => id !== 7 && id !== 50))
  await pull()
  one.fake.hold(all.filter(({ id }) => id !== 50))
  await pull()
  await writeLakeFiles(one.lake)
  await expectSame(one.lake)
  expect(
    await inCatalog(one.lake, (ask) =>
      ask('SELECT internal_id::INTEGER AS id FROM companies_all WHERE gone_since IS NOT NULL'),
    ),
  ).toEqual([{ id: 50 }])
})

test('superseded rows that stand in files, put there at once or over several snapshots, are the same', async () => {
  const lake = await restatedLake()
  await writeLakeFiles(lake, { mostInlined: 0 })
  await expectSame(lake)
  await load(lake, company(3, 30), company(2, 200))
  await load(lake, company(3, 300))
  await expectSame(lake)
  await writeLakeFiles(lake, { mostInlined: 0, anew: false })
  await expectSame(lake)
  expect((await verify({ lake })).problems).toEqual([])
})

test('changes are the deletes and inserts of each snapshot', async () => {
  const lake = await restatedLake()
  const changes = `SELECT snapshot_id::INTEGER AS snapshot, change_type AS type, count(*)::INTEGER AS n
FROM lake.table_changes('companies', 2, 3) GROUP BY ALL ORDER BY ALL`
  expect(await inCatalog(lake, (ask) => ask(changes))).toEqual([
    { snapshot: 2, type: 'delete', n: 2 },
    { snapshot: 2, type: 'insert', n: 2 },
    { snapshot: 3, type: 'delete', n: 1 },
    { snapshot: 3, type: 'insert', n: 1 },
  ])
})

test('a moved lake is found by another place, and by a catalog that is written again', async () => {
  const lake = await restatedLake()
  const moved = `${lake}-moved`
  await rename(lake, moved)
  await expect(inCatalog(moved, (ask) => ask(SALES))).rejects.toThrow('Cannot open file')
  const place = [`DATA_PATH '${moved}/'`, 'OVERRIDE_DATA_PATH true']
  expect(await inCatalog(moved, (ask) => ask(SALES), place)).toEqual(RESTATED)
  await writeLakeFiles(moved)
  expect(await inCatalog(moved, (ask) => ask(SALES))).toEqual(RESTATED)
})

test('a copy has a catalog of its own', async () => {
  const lake = await restatedLake()
  const to = `${lake}-copy`
  await copy({ lake, to })
  await rename(lake, `${lake}-away`)
  expect(await inCatalog(to, (ask) => ask(SALES))).toEqual(RESTATED)
  await expectSame(to)
})

test('computed columns stand in the tables, their versions and the views on them', async () => {
  const lake = await newLake()
  const from = fromRecords('crm', [company(1, 1), company(2, 2)])
  const compute = {
    'companies.number': "replace(company_name, 'Company ', '')::INTEGER",
    'financials.millions': 'value / 1e6',
  }
  await convert({ from, lake, take: { compute } })
  const again = fromRecords('crm', [company(1, 10)])
  await convert({ from: again, lake, take: { compute }, again: true })
  await expectSame(lake)
  expect(
    await inCatalog(lake, (ask) => ask('SELECT sum(number)::INTEGER AS n FROM history.companies')),
  ).toEqual([{ n: 4 }])
})

test('each snapshot has the computed columns that the lake had then', async () => {
  const lake = await newLake()
  const declared = [
    {},
    { 'companies.shout': 'upper(company_name)', 'financials.millions': 'value / 1e6' },
    { 'companies.shout': 'lower(company_name)' },
    {},
  ]
  for (const [at, compute] of declared.entries())
    await convert({
      from: fromRecords('crm', [company(1, at), company(10 + at, 1)]),
      ...{ lake, again: true, take: { compute }, changeTaken: true },
    })
  const views = ['companies', 'companies_all', 'companies_history', 'financials', 'financials_history']
  await expectSame(lake, views, views)
  // In one session, which keeps what it has read of other snapshots.
  await inCatalog(lake, async (ask) => {
    const asOf = (version: number): Promise<Row[]> =>
      ask(`SELECT * FROM companies AT (VERSION => ${version}) WHERE internal_id = 1`)
    const shouts: unknown[] = []
    for (const version of [4, 2, 1, 3, 4]) shouts.push((await asOf(version)).map(({ shout }) => shout))
    expect(shouts).toEqual([[undefined], ['COMPANY 1'], [undefined], ['company 1'], [undefined]])
  })
  // What snapshots that are gone had is gone from the catalog, too.
  for (const keep of [2, 1]) {
    await removeGarbage({ lake, now: new Date(), keep })
    await expectSame(lake, views, views)
  }
  expect((await verify({ lake })).problems).toEqual([])
})

test('macros answer as in query, and tables, columns and views have their comments', async () => {
  const lake = await restatedLake()
  const questions = [
    "SELECT count(*) AS n, round(sum(value), 6) AS sum FROM financials_in('EUR')",
    "SELECT convert_currency(100, 'SEK', 2020, 'EUR') AS eur",
    "SELECT internal_id, rank FROM find_company('Company 2')",
    "FROM growth('NetSales') ORDER BY ALL",
    'FROM group_of(1)',
  ]
  const rows = `SELECT to_json(r)::VARCHAR AS row FROM`
  for (const sql of questions)
    expect(await inCatalog(lake, (ask) => ask(`${rows} (${sql}) AS r`))).toEqual(
      await query({ lake, sql: `${rows} (${sql}) AS r` }),
    )
  const comments = await inCatalog(lake, (ask) =>
    ask(`SELECT comment FROM duckdb_tables() WHERE database_name = 'lake' AND schema_name = 'main' AND table_name = 'companies'
UNION ALL SELECT comment FROM duckdb_columns() WHERE schema_name = 'history' AND table_name = 'financials' AND column_name = 'value'
UNION ALL SELECT comment FROM duckdb_views() WHERE database_name = 'lake' AND view_name = 'restatements'`),
  )
  expect(comments.map(({ comment }) => String(comment).slice(0, 20))).toEqual([
    'Current versions. A ',
    'The figure, scale ap',
    'Figures that the ser',
  ])
})

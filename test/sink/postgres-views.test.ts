/** The views of the analysis layer in PostgreSQL: what they say of random companies is what the records say. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { definitionsFor } from '../../src/analysis/definitions.ts'
import { documentationOf } from '../../src/analysis/documentation.ts'
import { convert } from '../../src/jobs/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { growthOf, latestOf } from '../analysis/expected.ts'
import { AGAIN, COUNTED, CURRENT, FIGURES, FIRST } from '../analysis/unlike-companies.ts'
import { withClient } from '../support/postgres-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usePostgres } from '../support/use-postgres.ts'
import { companies, postgresBench, sales } from './postgres-bench.ts'

const server = usePostgres()

const newUrl = async (): Promise<string> => server().url(await server().newDatabase())

const asker = (url: string) => (sql: string) =>
  withClient(url, async (client) => {
    await client.query('SET search_path TO firmlake')
    return (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows
  })

/** Rows in an order of their own, numbers without their last digits. */
const same = (rows: readonly (readonly unknown[])[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell))),
    )
    .sort()

const VIEWS = definitionsFor()
  .filter((one) => documentationOf(one).isPortable)
  .map(({ name }) => name)

const viewsIn = async (ask: ReturnType<typeof asker>): Promise<unknown[]> =>
  (await ask("SELECT viewname FROM pg_views WHERE schemaname = 'firmlake' ORDER BY 1")).flat()

test('the views say of every company what its records say, run after run', async () => {
  const [lake, url] = [join(await temporaryFolder(), 'lake'), await newUrl()]
  const ask = asker(url)
  await convert({ from: [fromRecords('first', FIRST)], lake, sinks: [url] })
  await convert({ from: [fromRecords('again', AGAIN)], lake, changeCurrency: true, sinks: [url] })
  expect(await viewsIn(ask)).toEqual([...VIEWS].sort())

  const names = new Map(
    CURRENT.map(({ BasicDetails }) => [BasicDetails?.InternalId, BasicDetails?.CompanyName]),
  )
  expect(
    same(
      await ask(
        'SELECT internal_id::int, company_name, fiscal_year, line_item, value, consolidation, months FROM figures',
      ),
    ),
  ).toEqual(
    same(
      COUNTED.map((one) => [
        ...[one.id, names.get(one.id), one.year, one.item, one.value, one.consolidation, one.months],
      ]),
    ),
  )
  const statements = [
    ...Map.groupBy(FIGURES, ({ id, year, consolidation }) => `${id} ${year} ${consolidation}`).values(),
  ]
  expect(
    same(
      await ask(
        'SELECT internal_id::int, fiscal_year, consolidation, months, figures::int, is_preferred FROM statements',
      ),
    ),
  ).toEqual(
    same(
      statements.map((own) => [
        ...[own[0]?.id, own[0]?.year, own[0]?.consolidation, own[0]?.months],
        own.filter(({ item }) => item !== 'FiscalYearLength').length,
        own[0]?.isPreferred,
      ]),
    ),
  )
  expect(
    same(
      await ask('SELECT internal_id::int, line_item, fiscal_year, consolidation, value FROM latest_figures'),
    ),
  ).toEqual(same(latestOf(FIGURES).map((one) => [one.id, one.item, one.year, one.consolidation, one.value])))
  for (const item of ['NetSales', 'EBIT', 'TotalAssets'])
    expect(
      same(
        await ask(
          `SELECT internal_id::int, fiscal_year, growth, reason FROM growth_of_main_items WHERE line_item = '${item}'`,
        ),
      ),
    ).toEqual(
      same(
        growthOf(FIGURES, item).map(({ growth, reason, ...key }) => [...Object.values(key), growth, reason]),
      ),
    )
}, 60_000)

test('views and their columns have the comments of the layer', async () => {
  const { load, ask } = await postgresBench(await newUrl())
  await load('run-1', { 'p-0': wholeTables })
  const found = await ask(`SELECT c.relname, a.attname, col_description(c.oid, a.attnum)
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace = 'firmlake'::regnamespace AND c.relkind = 'v' ORDER BY c.relname, a.attnum`)
  const expected = definitionsFor()
    .filter((one) => documentationOf(one).isPortable)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((one) => documentationOf(one).columns.map(([column, about]) => [one.name, column, about]))
  expect(found).toEqual(expected)
  expect(await ask("SELECT obj_description('firmlake.figures'::regclass)")).toEqual([
    [expect.stringMatching(/^The figures that count.*\(View of firmlake, [0-9a-f]{8}\.\)$/)],
  ])
})

/** Both tables with all columns that the views read, as a run brings them. */
const wholeTables = {
  companies: `SELECT 1::BIGINT AS internal_id, 'Firm' AS company_name, 'SE' AS country_code`,
  financials: `SELECT *, 'SE' AS country_code, 'SEK' AS currency, 12::SMALLINT AS months, true AS is_preferred
    FROM (${sales([1, 2022, 100], [1, 2023, 110])})`,
}

const figures = 'SELECT company_name, fiscal_year, value FROM firmlake.figures ORDER BY 2'

test('views come with the tables in one transaction, when the tables have what they read, and are then left alone', async () => {
  const { load, stage, ask } = await postgresBench(await newUrl())
  await load('run-1', { 'p-0': { companies: companies([1, 'one']) } })
  expect(await ask("SELECT viewname FROM pg_views WHERE schemaname = 'firmlake'")).toEqual([
    ['line_item_names'],
  ])
  const { run, files } = await stage('run-2', { 'p-0': wholeTables })
  await ask('CREATE TABLE firmlake.financials (internal_id int)')
  await expect(run.commit(files)).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  expect(await ask("SELECT viewname FROM pg_views WHERE schemaname = 'firmlake'")).toEqual([
    ['line_item_names'],
  ])
  await ask('DROP TABLE firmlake.financials')
  await run.commit(files)
  expect(await ask(figures)).toEqual([
    ['Firm', '2022', '100'],
    ['Firm', '2023', '110'],
  ])
  const oids =
    "SELECT relname, oid, xmin FROM pg_class WHERE relkind = 'v' AND relnamespace = 'firmlake'::regnamespace ORDER BY 1"
  const before = await ask(oids)
  await ask('CREATE VIEW public.mine AS SELECT * FROM firmlake.figures')
  await load('run-3', { 'p-0': wholeTables })
  expect(await ask(oids)).toEqual(before)
})

test('views of an older version are made again, and stay with a warning where views of others read them', async () => {
  const { load, ask } = await postgresBench(await newUrl())
  await load('run-1', { 'p-0': wholeTables })
  await ask("COMMENT ON VIEW firmlake.figures IS 'Figures. (View of firmlake, 00000000.)'")
  await ask('CREATE VIEW public.mine AS SELECT * FROM firmlake.figures')
  const { warnings } = await load('run-2', { 'p-0': wholeTables })
  expect(warnings).toEqual([expect.stringContaining('views of others read them')])
  expect(await ask('SELECT value FROM public.mine ORDER BY 1')).toEqual([['100'], ['110']])
  await ask('DROP VIEW public.mine')
  expect((await load('run-3', { 'p-0': wholeTables })).warnings).toEqual([])
  expect(await ask("SELECT obj_description('firmlake.figures'::regclass) LIKE '%00000000.)'")).toEqual([
    ['f'],
  ])
})

test('tables and views of others keep their names, and what reads such a view is left out', async () => {
  const { load, ask } = await postgresBench(await newUrl())
  await ask('CREATE SCHEMA firmlake; CREATE VIEW firmlake.figure_changes AS SELECT 7 AS own')
  await load('run-1', { 'p-0': wholeTables })
  expect(await ask('SELECT * FROM firmlake.figure_changes')).toEqual([['7']])
  const views = (await ask("SELECT viewname FROM pg_views WHERE schemaname = 'firmlake' ORDER BY 1")).flat()
  expect(views).toEqual(VIEWS.filter((name) => name !== 'growth_of_main_items').toSorted())
})

test('export --table of a view brings its rows, which take the place of the view', async () => {
  const [lake, url] = [join(await temporaryFolder(), 'lake'), await newUrl()]
  const ask = asker(url)
  await convert({ from: [fromRecords('first', CURRENT)], lake })
  await exportTables({ lake, to: url, tables: ['companies', 'financials'] })
  await exportTables({ lake, to: url, tables: ['latest_figures'] })
  expect(await ask("SELECT relkind FROM pg_class WHERE relname = 'latest_figures'")).toEqual([['r']])
  expect(same(await ask('SELECT internal_id::int, line_item, value FROM latest_figures'))).toEqual(
    same(latestOf(FIGURES).map(({ id, item, value }) => [id, item, value])),
  )
  expect(await ask('SELECT count(*)::int FROM figures')).toEqual([[COUNTED.length]])
  await deliver({ lake, sinks: [url] })
  expect(await ask("SELECT relkind FROM pg_class WHERE relname = 'latest_figures'")).toEqual([['r']])
  expect(await ask('SELECT count(*)::int FROM figures')).toEqual([[COUNTED.length]])
}, 60_000)

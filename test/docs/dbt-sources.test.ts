/** The sources for dbt against the columns of a lake's own views, read back by a parser of YAML. */

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { smallLake } from '../publish/sample-lake.ts'
import { readPage } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Source {
  readonly name: string
  readonly database: string
  readonly schema: string
  readonly tables: readonly {
    readonly name: string
    readonly description: string
    readonly columns: readonly {
      readonly name: string
      readonly description: string
      readonly config?: { readonly meta: { readonly unit: string } }
    }[]
  }[]
}

const text = readPage('docs/reference/dbt-sources.yml')
const { sources }: { readonly sources: readonly Source[] } = parse(text)
const [main, history] = sources

const columnsOf = (source: Source | undefined): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(source?.tables.map(({ name, columns }) => [name, columns.map((one) => one.name)]) ?? [])

test('the sources are the schemas of the catalog that has the alias of the pages', () => {
  expect(sources.map(({ name, database, schema }) => [name, database, schema])).toEqual([
    ['firmlake', 'lake', 'main'],
    ['firmlake_history', 'lake', 'history'],
  ])
})

test('the source of current rows names every view of a lake and its columns, but no line of the quarantine', async () => {
  const lake = await smallLake(await temporaryFolder(), 1)
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  await session.run(`ATTACH ${literal(join(lake, 'lake.duckdb'))} AS lake (READ_ONLY)`)
  const rows = await session.rows(
    `SELECT table_name AS name, list(column_name ORDER BY column_index) AS columns FROM duckdb_columns()
    WHERE database_name = 'lake' AND schema_name = 'main' AND NOT (table_name = 'quarantine' AND column_name IN ('raw', 'raw_base64'))
    GROUP BY table_name`,
  )
  expect(rows.length).toBeGreaterThan(40)
  expect(columnsOf(main)).toEqual(Object.fromEntries(rows.map(({ name, columns }) => [name, columns])))
})

test('the source of all versions names the tables and their columns', () => {
  expect(columnsOf(history)).toEqual(
    Object.fromEntries(TABLES.map(({ name, columns }) => [name, columns.map((column) => column.name)])),
  )
})

test('every table and column has a description, and columns have their unit', () => {
  const tables = sources.flatMap((source) => source.tables)
  const columns = tables.flatMap((table) => table.columns)
  expect([...tables, ...columns].filter(({ description }) => !/\w/.test(description))).toEqual([])
  const unitOf = (table: string, column: string): string | undefined =>
    main?.tables.find(({ name }) => name === table)?.columns.find(({ name }) => name === column)?.config?.meta
      .unit
  for (const { name, columns: declared } of TABLES)
    for (const column of declared)
      expect([name, column.name, unitOf(name, column.name)]).toEqual([name, column.name, column.unit])
  for (const { lineItem, unit } of LINE_ITEMS) expect(unitOf('financials_wide', lineItem)).toBe(unit)
})

test('dbt, which takes texts for templates, finds none in them', () => {
  expect(text.match(/\{[{%#]/g)).toBe(null)
})

/** Names that are refused in a statement of which DuckDB has no tree, whatever stands between them and their brackets. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { findWrongCall, findWrongCallInText } from '../../../src/lake/duckdb/statement-tree.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { REFUSED_FUNCTIONS } from './refused-functions.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
})
afterAll(() => {
  session.close()
  engine.close()
})

const CODES = [
  ...[
    0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff,
  ],
  ...Array.from({ length: 14 }, (_, at) => 0x2000 + at),
]
/** What DuckDB's lexer passes over, or may in a later release. */
const BETWEEN = [
  '',
  ...CODES.map((code) => String.fromCodePoint(code)),
  ...['--x\r', '--x\n', '-- (\r\n', '/* x */', '/* /* x */ ( */', ' /**/\u200b--\r\t'],
]
/** How a name may be written. */
const WRITTEN: readonly (readonly [string, (name: string) => string])[] = [
  ['plain', (name) => name],
  ['in large letters', (name) => name.toUpperCase()],
  ['in quotes', (name) => `"${name}"`],
  ['with its schema', (name) => `main.${name}`],
  ['with its catalog', (name) => `"system" . "main" . "${name}"`],
  ['behind a value', (name) => `('x').${name}`],
]

describe('every refused name in a PIVOT whose columns come from the data:', () => {
  test.each(WRITTEN)('%s', async (how, written) => {
    const passed: string[] = []
    for (const name of REFUSED_FUNCTIONS)
      for (const between of how === 'plain' ? BETWEEN : BETWEEN.slice(-2)) {
        const sql = `PIVOT (SELECT 1 AS a, 2 AS b FROM ${written(name)}${between}('x')) ON a USING sum(b)`
        const found = await findWrongCallInText(session, sql)
        if (found?.kind !== 'refused' || found.name !== name) passed.push(JSON.stringify(sql))
      }
    expect(passed).toEqual([])
  })
})

test.each([
  ['a view over a refused function', 'PIVOT pg_catalog.pg_settings ON name'],
  ['in quotes', 'PIVOT "duckdb_logs" ON type'],
  ['as a text', "PIVOT 'pg_settings' ON name"],
  ['as a text with escapes', String.raw`PIVOT E'pg\x5fsettings' ON name`],
  ['in brackets', String.raw`PIVOT (FROM E'pg\x5fsettings') ON name`],
  ['as a text in pieces', "PIVOT 'pg_set'\n'tings' ON name"],
  ['with comments between the pieces', "PIVOT 'pg_set' --x\r --y\n\u200b 'tings' ON name"],
  ['a name that is computed', "PIVOT query_table('pg_' || 'settings') ON name"],
  ['a statement that is computed', "PIVOT query('FROM pg_' || 'settings') ON name"],
  ['a database file', "PIVOT '/x/lake.duckdb' ON name"],
])('%s is refused there', async (_how, sql) => {
  expect((await session.parse(sql)).kind).toBe('other')
  expect(await findWrongCallInText(session, sql)).toMatchObject({ kind: 'refused' })
})

test.each([
  'PIVOT financials ON fiscal_year USING sum(value) GROUP BY internal_id',
  "PIVOT (SELECT * FROM companies WHERE country_code IN ('NO', 'E')) ON country_code USING count(*)",
  "WITH a AS (SELECT 'x\ny' AS b) FROM (PIVOT a ON b)",
  String.raw`PIVOT (SELECT regexp_extract(org_no, '^(\d+)') AS a FROM companies) ON a`,
])('%s passes', async (sql) => {
  expect((await session.parse(sql)).kind).toBe('other')
  expect(await findWrongCallInText(session, sql)).toBeUndefined()
})

test('no column of the lake has a name that would be refused', () => {
  const names = TABLES.flatMap(({ name, columns }) => [name, ...columns.map((column) => column.name)])
  expect(names.filter((name) => REFUSED_FUNCTIONS.includes(name))).toEqual([])
})

const viewsOfDuckdb = async (): Promise<ReadonlyMap<string, string>> => {
  const rows = await session.rows(
    "SELECT schema_name || '.' || view_name AS name, sql FROM duckdb_views() WHERE internal",
  )
  return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]))
}

test('of the views of DuckDB itself those are refused that call a refused function, and no others', async () => {
  const views = await viewsOfDuckdb()
  expect(views.size).toBeGreaterThan(40)
  const calls = (sql: string): boolean =>
    REFUSED_FUNCTIONS.some((name) => new RegExp(`\\b${name}\\(`).test(sql))
  const expected = [...views].filter(([, sql]) => calls(sql)).map(([name]) => name)
  expect(expected).toContain('pg_catalog.pg_settings')
  expect(expected).toContain('main.duckdb_logs')
  const refused: string[] = []
  for (const name of views.keys()) {
    const [, last = ''] = name.split('.')
    for (const from of [name, `"${last}"`, `query_table('${name}')`, `query('FROM ${name}')`]) {
      if (from.startsWith('"') && name.startsWith('information_schema')) continue
      for (const sql of [`FROM ${from}`, `SUMMARIZE FROM ${from}`, `WITH a AS (FROM ${from}) FROM a`]) {
        const parsed = await session.parse(sql)
        if (parsed.kind !== 'selects') throw new TypeError(sql)
        const found = await findWrongCall(session, parsed.statements)
        expect([sql, found?.kind]).toEqual([sql, expected.includes(name) ? 'refused' : undefined])
      }
    }
    if ((await findWrongCallInText(session, `PIVOT ${name} ON a`)) !== undefined) refused.push(name)
  }
  expect(refused.sort()).toEqual(expected.sort())
})

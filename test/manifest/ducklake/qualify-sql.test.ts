import { expect, test } from 'vitest'
import { catalogNames, catalogViews } from '../../../src/manifest/ducklake/catalog-views.ts'
import { macroSql, viewSql } from '../../../src/manifest/ducklake/qualify-sql.ts'

const NAMES = { relations: new Set(['companies', 'rates']), macros: new Set(['peers', 'plain_text']) }

test.each([
  ['a table', 'FROM companies', 'FROM {DUCKLAKE_CATALOG}.main.companies'],
  ['a table that is joined', 'a LEFT JOIN rates AS r', 'a LEFT JOIN {DUCKLAKE_CATALOG}.main.rates AS r'],
  ['a table in brackets', 'IN (FROM rates)', 'IN (FROM {DUCKLAKE_CATALOG}.main.rates)'],
  ['a macro of rows', 'FROM peers(1, 2)', 'FROM {DUCKLAKE_CATALOG}.main.peers(1, 2)'],
  ['a macro of a value', 'SELECT plain_text(a)', 'SELECT {DUCKLAKE_CATALOG}.main.plain_text(a)'],
  ['facts', 'FROM firmlake.fact_rates()', 'FROM {DUCKLAKE_CATALOG}.firmlake.rates'],
])('viewSql says which catalog %s is of', (_what, sql, expected) => {
  expect(viewSql(sql, NAMES)).toBe(expected)
})

test.each([
  ['a name that the statement defines', 'WITH companies AS NOT MATERIALIZED (SELECT 1) FROM companies'],
  ['a column of that name', 'SELECT companies, t.companies FROM t'],
  ['a text and a comment', "SELECT 'FROM companies' -- FROM companies\nFROM t"],
  ['a name in quotes', 'SELECT 1 AS "FROM companies"'],
  ['a function of DuckDB', 'SELECT lower(a)'],
])('viewSql leaves %s alone', (_what, sql) => {
  expect(viewSql(sql, NAMES)).toBe(sql)
})

test('macroSql names no catalog: none is put in for it', () => {
  expect(macroSql('FROM companies JOIN firmlake.fact_rates() AS r')).toBe(
    'FROM companies JOIN firmlake.rates AS r',
  )
})

test('no view of the catalog reads a table or view without the name of the catalog', () => {
  const { relations } = catalogNames()
  for (const { name, sql } of catalogViews()) {
    const own = new Set(
      Array.from(sql.matchAll(/\b(\w+)\s+AS\s+(?:(?:NOT\s+)?MATERIALIZED\s+)?\(/g), ([, one]) => one),
    )
    const code = sql.replace(/--.*|'(?:[^']|'')*'/g, '')
    const read = Array.from(code.matchAll(/\b(?:FROM|JOIN)\s+(\w+)/gi), ([, one = '']) => one)
    expect([name, read.filter((one) => relations.has(one) && !own.has(one))]).toEqual([name, []])
  }
})

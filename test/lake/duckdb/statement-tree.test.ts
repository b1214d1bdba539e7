import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { namedTables, soughtRows } from '../../../src/lake/duckdb/statement-tree.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 128 * 1024 * 1024, threads: 1 })
  session = await engine.connect()
})
afterAll(() => {
  session.close()
  engine.close()
})

const named = async (sql: string): Promise<readonly string[] | null> => {
  const parsed = await session.parse(sql)
  if (parsed.kind !== 'selects') throw new Error(`Not a SELECT: ${sql}`)
  const names = namedTables(parsed.statements[0])
  return names && [...names].sort()
}

test.each([
  ['SELECT 1', []],
  ["SELECT 'companies' AS financials", []],
  ['FROM Companies', ['companies']],
  ['TABLE companies', ['companies']],
  ['SELECT employees FROM main."EMPLOYEES_history" AS e', ['employees_history']],
  ['SELECT 1 FROM companies c JOIN memory.main.roles USING (internal_id)', ['companies', 'roles']],
  ['SELECT 1 WHERE EXISTS (SELECT 1 FROM relations)', ['relations']],
  [
    'SELECT (FROM companies LIMIT 1), [x FOR x IN (SELECT list(no) FROM roles)]',
    ['companies', 'list', 'list_apply', 'roles'],
  ],
  ['SELECT 1 UNION ALL FROM companies EXCEPT FROM roles', ['companies', 'roles']],
  ['WITH q AS (FROM quarantine) SELECT * FROM q', ['q', 'quarantine']],
  ["FROM (PIVOT financials ON category IN ('x') USING sum(value))", ['financials', 'sum']],
  ['SELECT * FROM companies, LATERAL (SELECT * FROM roles WHERE no = internal_id)', ['companies', 'roles']],
  ['DESCRIBE companies', []],
  ['DESCRIBE SELECT * FROM companies', []],
  ['FROM (DESCRIBE companies), employees', ['employees']],
  ['SUMMARIZE roles', ['roles']],
  ['SUMMARIZE SELECT * FROM employees', ['employees']],
  [
    'SELECT count(*) FILTER (WHERE id IN (SELECT id FROM roles)) OVER () FROM companies',
    ['companies', 'count', 'roles'],
  ],
])('namedTables of "%s"', async (sql, names) => {
  expect(await named(sql)).toEqual(names)
})

test.each(["FROM query('FROM companies')", "SELECT 1 FROM QUERY_TABLE('com' || 'panies')"])(
  'namedTables cannot tell what "%s" reads',
  async (sql) => {
    expect(await named(sql)).toBeNull()
  },
)

const sought = async (sql: string) => {
  const parsed = await session.parse(sql)
  if (parsed.kind !== 'selects') throw new Error(`Not a SELECT: ${sql}`)
  return soughtRows(parsed.statements[0])
}

const some = (values: readonly number[], table = 'companies') => ({
  ...{ kind: 'some', table, column: 'internal_id', values },
})

test.each([
  ['SELECT company_name FROM Companies WHERE internal_id = 5', some([5])],
  ["SELECT 1 FROM companies AS c WHERE c.INTERNAL_ID IN (5, 7) AND country_code = 'SE'", some([5, 7])],
  ['FROM roles_history WHERE (no > 1 AND internal_id = 9) LIMIT 1', some([9], 'roles_history')],
  ['SELECT count(*) FROM companies', { kind: 'count', table: 'companies' }],
  ['SELECT count() AS n FROM companies ORDER BY n', { kind: 'count', table: 'companies' }],
])('soughtRows of "%s"', async (sql, expected) => {
  expect(await sought(sql)).toEqual(expected)
})

test.each([
  'FROM companies',
  'FROM companies WHERE internal_id = 5 OR true',
  'FROM companies WHERE NOT internal_id = 5',
  'FROM companies WHERE internal_id > 5',
  'FROM companies WHERE internal_id = org_no',
  "FROM companies WHERE internal_id = '5'",
  'FROM companies WHERE internal_id IN (5, org_no)',
  'FROM companies WHERE internal_id = 9007199254740993',
  'FROM companies AS c(internal_id) WHERE internal_id = 5',
  'FROM other.companies WHERE internal_id = 5',
  'FROM companies JOIN roles USING (internal_id) WHERE internal_id = 5',
  'FROM companies, companies AS more WHERE companies.internal_id = 5',
  'FROM companies WHERE internal_id = 5 AND EXISTS (FROM companies)',
  'SELECT (SELECT max(internal_id) FROM companies) FROM companies WHERE internal_id = 5',
  'WITH companies AS (VALUES (5)) FROM companies WHERE internal_id = 5',
  'FROM companies WHERE internal_id = 5 UNION ALL FROM companies',
  'FROM (FROM companies) WHERE internal_id = 5',
  'SUMMARIZE companies',
  'SELECT count(internal_id) FROM companies',
  'SELECT count(*), max(internal_id) FROM companies',
  'SELECT count(*) FILTER (internal_id > 1) FROM companies',
  'SELECT count(*) OVER () FROM companies',
  'SELECT count(*) FROM companies GROUP BY country_code',
  'SELECT count(*) FROM companies WHERE internal_id > 1',
  'SELECT count(*) FROM companies HAVING max(internal_id) > 1',
  'FROM companies WHERE internal_id = 5 USING SAMPLE 10%',
  'FROM companies TABLESAMPLE 10% WHERE internal_id = 5',
  'SELECT count(*) FROM companies USING SAMPLE 10%',
  'SELECT count(*) FROM companies TABLESAMPLE 10%',
])('soughtRows of "%s" are all', async (sql) => {
  expect(await sought(sql)).toBeUndefined()
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { namedTables } from '../../../src/lake/duckdb/statement-tree.ts'

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

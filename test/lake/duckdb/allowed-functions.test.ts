/** Which functions of the pinned DuckDB a user's SQL may call. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALLOWED_FUNCTIONS } from '../../../src/lake/duckdb/allowed-functions.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { findWrongCall, findWrongCallInText } from '../../../src/lake/duckdb/statement-tree.ts'
import { REFUSED_FUNCTIONS } from './refused-functions.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  session = await engine.connect()
})
afterAll(() => {
  session.close()
  engine.close()
})

/** What is wrong with a statement's calls; a statement without a tree is looked at as a text. */
const wrongIn = async (sql: string): Promise<string | undefined> => {
  const parsed = await session.parse(sql)
  if (parsed.kind === 'wrong') throw new TypeError(parsed.reason)
  const found =
    parsed.kind === 'selects'
      ? await findWrongCall(session, parsed.statements)
      : await findWrongCallInText(session, sql)
  return found && `${found.kind}: ${found.reason}`
}

test('every function of the pinned DuckDB is judged, and nothing else', async () => {
  const rows = await session.rows(
    'SELECT DISTINCT lower(function_name) AS name FROM duckdb_functions() ORDER BY 1',
  )
  const names = rows.map(({ name }) => String(name))
  expect(names.length).toBeGreaterThan(900)
  const judged = [...ALLOWED_FUNCTIONS, ...REFUSED_FUNCTIONS]
  expect(judged.toSorted()).toEqual(names.toSorted())
})

test('a function with an effect is never allowed', async () => {
  const rows = await session.rows(
    `SELECT DISTINCT lower(function_name) AS name FROM duckdb_functions()
     WHERE (has_side_effects OR function_type IN ('pragma')) AND function_type <> 'table' ORDER BY 1`,
  )
  // Another value at each call, or an error, is no effect.
  const harmless = ['current_query', 'error', 'gen_random_uuid', 'random', 'uuid', 'uuidv4', 'uuidv7']
  const effects = rows.map(({ name }) => String(name)).filter((name) => !harmless.includes(name))
  expect(effects.length).toBeGreaterThan(30)
  // A table function and a macro of the same names.
  expect(effects.filter((name) => ALLOWED_FUNCTIONS.has(name))).toEqual(['version'])
})

describe('refuses wherever a statement calls it:', () => {
  test.each([
    ['a value', "SELECT write_log('x')"],
    ['a table', "FROM enable_profiling(save_location = 'x')"],
    ['large letters', "SELECT WRITE_LOG('x')"],
    ['a name in quotes', `SELECT "write_log"('x')`],
    ['with its schema', "SELECT main.write_log('x')"],
    ['with its catalog', `SELECT "system"."main"."write_log"('x')`],
    ['behind a value', "SELECT ('x').write_log()"],
    ['with comments between', "SELECT write_log /* a */ -- b\n ('x')"],
    ['a condition', 'SELECT 1 WHERE setseed(0.5) IS NULL'],
    ['an order and a limit', "FROM range(3) ORDER BY write_log('x') LIMIT 1"],
    ['a subquery', "SELECT (SELECT write_log('x'))"],
    ['WITH', "WITH a AS (SELECT write_log('x')) FROM a"],
    ['VALUES', "VALUES (write_log('x'))"],
    ['a lambda', "SELECT list_transform([1], lambda x: write_log('x'))"],
    ['a window', "SELECT sum(1) OVER (ORDER BY write_log('x'))"],
    ['a filter', "SELECT sum(1) FILTER (WHERE write_log('x') IS NULL)"],
    ['REPLACE', "SELECT * REPLACE (write_log('x') AS range) FROM range(1)"],
    ['a lateral join', "FROM range(3) r, LATERAL (SELECT write_log('x'))"],
    ['DESCRIBE', "DESCRIBE SELECT write_log('x')"],
    ['SUMMARIZE', 'SUMMARIZE FROM checkpoint()'],
    ['UNPIVOT', "FROM (UNPIVOT (SELECT write_log('x') AS a) ON a)"],
    ['a PIVOT of named columns', "PIVOT (SELECT 1 AS a) ON a IN (1) USING first(write_log('x'))"],
    ['query()', "FROM query('SELECT write_log(''x'')')"],
    ['query() in query()', "FROM query('FROM query(''SELECT write_log(1)'')')"],
    ['query() of a text that is made', "FROM query('SELECT ' || 'write_log(1)')"],
    ['query() of what is no SELECT', "FROM query('CHECKPOINT')"],
    ['a tree as a text', "FROM json_execute_serialized_sql('{}')"],
    ['a plan', "SELECT json_serialize_plan('FROM checkpoint()')"],
    ['pointers', 'FROM arrow_scan(1, 2, 3)'],
    ['other databases', "FROM read_duckdb('x')"],
    ['settings', "SELECT current_setting('temp_directory')"],
    ['secrets', "FROM which_secret('x', 's3')"],
  ])('%s', async (_where, sql) => {
    expect(await wrongIn(sql)).toMatch(/^refused: (function "[a-z_]+" is not allowed|"query" takes)/)
  })

  test.each([
    ['a value', "PIVOT (SELECT 1 AS a, write_log('x')) ON a"],
    ['comments that hold comments', "PIVOT (SELECT 1 AS a, write_log/* /* */ */ ('x')) ON a"],
    ['a comment to the end of the line', "PIVOT (SELECT 1 AS a, write_log -- (\n ('x')) ON a"],
    ['quotes', `PIVOT (SELECT 1 AS a, "Write_Log" ('x')) ON a`],
    ['behind a value', "PIVOT (SELECT 1 AS a, ('x').write_log()) ON a"],
    ['query()', "PIVOT (FROM query('SELECT ' || 'write_log(1)')) ON a"],
    ['a text', "PIVOT (SELECT 'write_log(1)' AS a) ON a"],
  ])('in a PIVOT whose columns come from the data: %s', async (_where, sql) => {
    expect((await session.parse(sql)).kind).toBe('other')
    expect(await wrongIn(sql)).toMatch(/^refused: function "(write_log|query)" is not allowed/)
  })
})

test.each([
  'SELECT a.upper(), row_number() OVER (), lead(a) OVER (), sum(b) FILTER (b > 1), max(b ORDER BY a) FROM t',
  "SELECT [y * 2 FOR y IN [1]], {'a': 1}, [1, 2][1], map {'a': 1}, current_date, now(), -b, b!, ~b, 2 ** 3, @b",
  "SELECT a LIKE 'b', a ILIKE 'b', a SIMILAR TO 'b', a GLOB 'b', a NOT LIKE 'b' ESCAPE '$', a ^@ 'b', a || 'b'",
  "SELECT a::DATE, EXTRACT(year FROM d), d AT TIME ZONE 'UTC', INTERVAL 1 DAY, position('a' IN a), a COLLATE nocase",
  "SELECT substring(a FROM 2), trim(BOTH 'x' FROM a), coalesce(a, 'b'), ifnull(a, 'b')",
  "SELECT nullif(a, 'b'), if(true, 1, 2), greatest(1, 2), percentile_cont(0.5) WITHIN GROUP (ORDER BY b), mode() WITHIN GROUP (ORDER BY b) FROM t",
  'SELECT grouping(a), any_value(b), b IS DISTINCT FROM 1, b IN (1, 2), EXISTS (FROM t), b = ANY (FROM t) FROM t GROUP BY ROLLUP (a)',
  "SELECT a->'$.b', a->>'b', json_extract(a, '$'), COLUMNS('x.*'), * EXCLUDE (a), row(1, 2), TRY(a::INT) FROM t",
  "FROM read_parquet('x'), read_csv('x'), read_text('x'), glob('x'), parquet_metadata('x'), generate_series(1, 2), unnest([1])",
  "FROM query('SELECT upper(a) FROM t'), query_table('t')",
  'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r',
  'PIVOT t ON a USING sum(b)',
  'SHOW TABLES',
  'DESCRIBE t',
])('lets pass %s', async (sql) => {
  expect(await wrongIn(sql)).toBeUndefined()
})

test('names a function that there is not, and the one that was meant', async () => {
  expect(await wrongIn("SELECT strptiem('a', 'b')")).toBe(
    'unknown: there is no function "strptiem", did you mean "strptime"?',
  )
  const [tree] = [await session.parse('SELECT growht(1)')]
  const own = new Set(['growth'])
  expect(tree.kind === 'selects' && (await findWrongCall(session, tree.statements, own))).toEqual({
    ...{ kind: 'unknown', name: 'growht', offsetBytes: 7 },
    reason: 'there is no function "growht", did you mean "growth"?',
  })
})

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import type { Snapshot } from '../../../src/core/partition.ts'
import { LakeQuery } from '../../../src/lake/query/lake-query.ts'
import { QUARANTINE, TABLES } from '../../../src/lake/tables/tables.ts'
import { HISTORY_COLUMNS } from '../../../src/lake/views/base-views.ts'
import { type LoadedLake, Workbench } from '../../load/loaded-lake.ts'

const MEMORY_BYTES = 256 * 1024 * 1024

let bench: Workbench
let lake: LoadedLake
let query: LakeQuery

const named = (InternalId: number, CompanyName: string, NetSales: number): object => ({
  BasicDetails: { InternalId, CompanyName },
  EnhancedDetails: { Employees: { 2023: NetSales } },
  Financials: { ProfitAndLoss: { NetSales: { 2023: NetSales } } },
})
const related = (InternalId: number, ...parents: number[]): object => ({
  InternalId,
  Parents: parents.map((id) => ({
    InternalId: id,
    Ownerships: [{ OwnershipStake: id }],
    KeyPersonRoles: [{ Id: id }],
  })),
})

beforeAll(async () => {
  bench = await Workbench.open()
  lake = await bench.load(
    { content: 'companies', lines: [named(1, 'old', 1), named(2, 'only', 2), '{"bad'] },
    { content: 'companies', lines: [named(1, 'current', 10), named(3, 'new', 3)] },
    { content: 'relations', lines: [related(1, 11, 12), related(2, 21)] },
    { content: 'relations', lines: [related(1, 13)] },
  )
  query = await opened(lake.snapshot)
})
afterAll(async () => {
  query.close()
  await bench.close()
})

const opened = (snapshot: Snapshot, folder = lake.lake): Promise<LakeQuery> =>
  LakeQuery.open({ lake: folder, snapshot, memoryBytes: MEMORY_BYTES })
const rowsOf = async (sql: string, from = query): Promise<(readonly unknown[])[]> => {
  const rows: (readonly unknown[])[] = []
  for await (const chunk of (await from.run(sql)).rows) rows.push(...chunk)
  return rows
}
const codeOf = async (sql: string, from = query): Promise<string> => {
  try {
    await rowsOf(sql, from)
    return 'allowed'
  } catch (error) {
    if (error instanceof ToolkitError) return error.code
    throw error
  }
}

describe('LakeQuery shows', () => {
  test('the current version of each record in every table', async () => {
    expect(await rowsOf('SELECT internal_id, company_name FROM companies ORDER BY 1')).toEqual([
      [1, 'current'],
      [2, 'only'],
      [3, 'new'],
    ])
    expect(await rowsOf('SELECT internal_id, value FROM financials ORDER BY 1')).toEqual([
      [1, 10],
      [2, 2],
      [3, 3],
    ])
    expect(await rowsOf('SELECT internal_id, employees FROM employees ORDER BY 1')).toEqual([
      [1, 10],
      [2, 2],
      [3, 3],
    ])
    expect(await rowsOf('SELECT count(*) FROM relations')).toEqual([[2]])
    for (const [table, column] of [
      ['relation_entities', 'entity_id'],
      ['ownerships', 'entity_id'],
      ['roles', 'id'],
    ]) {
      expect(await rowsOf(`SELECT company_id, ${column} FROM ${table} ORDER BY 1`)).toEqual([
        [1, 13],
        [2, 21],
      ])
    }
  })

  test('all versions in the history views', async () => {
    expect(await rowsOf('SELECT internal_id, company_name FROM companies_history ORDER BY ALL')).toEqual([
      [1, 'current'],
      [1, 'old'],
      [2, 'only'],
      [3, 'new'],
    ])
    expect(await rowsOf('SELECT entity_id FROM relation_entities_history ORDER BY 1')).toEqual([
      [11],
      [12],
      [13],
      [21],
    ])
  })

  test('an older snapshot as it was', async () => {
    const past = await opened({
      ...lake.snapshot,
      partitions: lake.snapshot.partitions.slice(0, 1),
      versions: [],
    })
    expect(await rowsOf('SELECT internal_id, company_name FROM companies ORDER BY 1', past)).toEqual([
      [1, 'old'],
      [2, 'only'],
    ])
    expect(await rowsOf('SELECT count(*) FROM relations', past)).toEqual([[0]])
    past.close()
  })

  test('the quarantine', async () => {
    expect(await rowsOf('SELECT partition, line, code, raw FROM quarantine')).toEqual([
      ['0-0', 3, 'NOT_JSON', '{"bad'],
    ])
  })

  test('tables without rows, with their columns, where nothing is loaded', async () => {
    const empty = await opened({ ...lake.snapshot, partitions: [], files: [] })
    expect((await empty.tables()).map(({ rows, historyRows }) => [rows, historyRows])).toEqual(
      TABLES.map(() => [0, 0]),
    )
    for (const { name, columns } of [...TABLES, QUARANTINE]) {
      const result = await empty.run(
        `SELECT ${columns.map((column) => `"${column.name}"`).join(', ')} FROM ${name}`,
      )
      expect(result.columns.map(({ type }) => typeOf(type))).toEqual(columns.map(({ type }) => typeOf(type)))
    }
    empty.close()
  })

  test.each(['', '_history'])('exactly the declared columns in the views named <table>%s', async (suffix) => {
    for (const { name, columns } of TABLES) {
      const result = await query.run(`SELECT * FROM ${name}${suffix}`)
      const expected = suffix === '' ? columns : [...columns, ...HISTORY_COLUMNS]
      expect(result.columns.map((column) => [column.name, typeOf(column.type)])).toEqual(
        expected.map((column) => [column.name, typeOf(column.type)]),
      )
    }
  })

  test('which load each version came with, and which one is current', async () => {
    const times = [
      '2026-01-02T03:04:05.678Z',
      '2026-01-03T03:04:05.000Z',
      '2026-01-04T00:00:00.000Z',
      '2026-01-05T00:00:00.000Z',
    ]
    const told = await opened(
      await bench.listed(lake.lake, {
        ...lake.snapshot,
        partitions: lake.snapshot.partitions.map((partition, at) => ({
          ...partition,
          // Numbers are left out between commits.
          version: 3 + 5 * at,
          ...{ run: `run-${at}`, committed: { snapshot: at + 4, time: times[at] ?? '' } },
        })),
      }),
    )
    const columns = 'snapshot, run, loaded_at, version, is_current'
    expect(
      await rowsOf(`SELECT internal_id, company_name, ${columns} FROM companies_history ORDER BY ALL`, told),
    ).toEqual([
      [1, 'current', 5, 'run-1', times[1], 8, true],
      [1, 'old', 4, 'run-0', times[0], 3, false],
      [2, 'only', 4, 'run-0', times[0], 3, true],
      [3, 'new', 5, 'run-1', times[1], 8, true],
    ])
    expect(await rowsOf(`SELECT value, ${columns} FROM financials_history ORDER BY ALL`, told)).toEqual([
      [1, 4, 'run-0', times[0], 3, false],
      [2, 4, 'run-0', times[0], 3, true],
      [3, 5, 'run-1', times[1], 8, true],
      [10, 5, 'run-1', times[1], 8, true],
    ])
    expect(
      await rowsOf(`SELECT entity_id, snapshot, loaded_at, is_current FROM roles_history ORDER BY 1`, told),
    ).toEqual([
      [11, 6, times[2], false],
      [12, 6, times[2], false],
      [13, 7, times[3], true],
      [21, 6, times[2], true],
    ])
    told.close()
  })

  test('how many rows each table has', async () => {
    const counts = (await query.tables()).map(({ table, rows, historyRows }) => [
      table.name,
      rows,
      historyRows,
    ])
    expect(counts).toEqual([
      ['companies', 3, 4],
      ['financials', 3, 4],
      ['employees', 3, 4],
      ['relations', 2, 3],
      ['relation_entities', 2, 4],
      ['ownerships', 2, 4],
      ['roles', 2, 4],
      ['line_items', 104, 104],
    ])
  })

  test('integers as numbers, beyond 2^53 as bigint, in lists and structs too', async () => {
    expect(
      await rowsOf("SELECT 9007199254740991, 9007199254740993, -1::BIGINT, [1::HUGEINT], {'a': 2::BIGINT}"),
    ).toEqual([[9007199254740991, 9007199254740993n, -1, [1], { a: 2 }]])
  })

  test('date-times as ISO 8601 in UTC, with the digits that they have', async () => {
    const cases = [
      ["TIMESTAMPTZ '2026-01-02 03:04:05+05:30'", '2026-01-01T21:34:05.000Z'],
      ["TIMESTAMPTZ '1969-12-31 23:59:59.999999+00'", '1969-12-31T23:59:59.999999Z'],
      ["TIMESTAMP '2026-01-02 03:04:05.5'", '2026-01-02T03:04:05.500'],
      ["TIMESTAMP_NS '2026-01-02 03:04:05.000000001'", '2026-01-02T03:04:05.000000001'],
      ["TIMESTAMP_S '2026-01-02 03:04:05'", '2026-01-02T03:04:05.000'],
      ["TIMESTAMP_MS '2026-01-02 03:04:05.006'", '2026-01-02T03:04:05.006'],
      ["DATE '2026-01-02'", '2026-01-02'],
      ["DATE '-infinity'", '-infinity'],
      ["'infinity'::TIMESTAMPTZ", 'infinity'],
      ["[TIMESTAMPTZ '2026-01-02']", ['2026-01-02T00:00:00.000Z']],
      ["TIMESTAMPTZ '2026-01-02'::VARCHAR", '2026-01-02 00:00:00+00'],
    ] as const
    expect(await rowsOf(`SELECT ${cases.map(([sql]) => sql).join(', ')}`)).toEqual([
      cases.map(([, value]) => value),
    ])
  })
})

/** A type as DuckDB and the declarations spell it alike. */
const typeOf = (type: string): string =>
  type.replace('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ').replaceAll('"', '').toUpperCase()

describe('LakeQuery runs', () => {
  test.each([
    'FROM companies',
    'WITH c AS (FROM companies) SELECT count(*) FROM c',
    'VALUES (1)',
    'DESCRIBE companies',
    'SUMMARIZE financials',
    'SHOW TABLES',
    'EXPLAIN SELECT 1',
    '-- a comment\nEXPLAIN FROM companies',
    '/* a comment */ SELECT 1;',
    "SELECT ';'",
    'SELECT 1e400, -1e400',
    'PIVOT companies_history ON internal_id',
    'PIVOT companies_history ON internal_id USING count(*);\n',
    'PIVOT companies_history ON internal_id IN (1, 2) USING count(*)',
    'FROM (PIVOT companies_history ON internal_id USING count(*))',
    'WITH x AS (PIVOT companies_history ON company_name USING count(*)) FROM x -- the end',
    'PIVOT_WIDER companies_history ON company_name USING count(*)',
    'SELECT * FROM companies_history PIVOT (count(*) FOR internal_id IN (1, 2))',
    'SUMMARIZE (PIVOT companies_history ON internal_id USING count(*))',
    'EXPLAIN PIVOT companies_history ON internal_id IN (1, 2) USING count(*)',
    'UNPIVOT companies ON internal_id',
    'UNPIVOT (SELECT internal_id, company_name FROM companies) ON COLUMNS(* EXCLUDE internal_id)',
    'FROM (UNPIVOT companies ON internal_id)',
    'WITH x AS (UNPIVOT companies ON internal_id) FROM x',
  ])('%s', async (sql) => {
    expect((await rowsOf(sql)).length).toBeGreaterThan(0)
  })
})

test('LakeQuery gives the rows of a PIVOT whose columns come from the data, in its order', async () => {
  const sql =
    'PIVOT companies_history ON company_name USING count(*) GROUP BY internal_id ORDER BY internal_id DESC'
  const { columns, rows } = await query.run(sql)
  expect(columns.map(({ name }) => name)).toEqual(['internal_id', 'current', 'new', 'old', 'only'])
  const chunks: unknown[] = []
  for await (const chunk of rows) chunks.push(...chunk)
  expect(chunks).toEqual([
    [3, 0, 1, 0, 0],
    [2, 0, 0, 0, 1],
    [1, 1, 0, 1, 0],
  ])
})

test('LakeQuery makes a relation of a PIVOT, and of a SELECT after it', async () => {
  const rows = async (sql: string): Promise<unknown[]> => {
    const all: unknown[] = []
    for await (const chunk of (await query.relation(sql)).rows()) all.push(...chunk)
    return all
  }
  const sql =
    'PIVOT (SELECT internal_id, company_name FROM companies) ON company_name USING any_value(internal_id)'
  expect(await rows(sql)).toEqual([{ current: '1', new: '3', only: '2' }])
  expect(await rows('SELECT 1 AS a')).toEqual([{ a: 1 }])
  expect(await rows(sql)).toEqual([{ current: '1', new: '3', only: '2' }])
})

describe('LakeQuery refuses', () => {
  const out = (): string => join(bench.folder, 'out.parquet')
  test.each([
    ['nothing', '  '],
    ['a comment alone', '-- nothing'],
    ['two statements', 'SELECT 1; SELECT 2'],
    ['a SELECT before a DROP', 'SELECT 1; DROP VIEW companies'],
    ['COPY TO', "COPY companies TO 'OUT'"],
    ['COPY TO inside the lake', "COPY (SELECT 1) TO 'LAKE/companies/x.parquet'"],
    ['COPY TO over a file of the lake', "COPY (SELECT 1) TO 'FILE'"],
    ['EXPLAIN ANALYZE of a COPY', "EXPLAIN ANALYZE COPY (SELECT 1) TO 'LAKE/x.parquet'"],
    ['EXPLAIN of a COPY', "EXPLAIN COPY (SELECT 1) TO 'LAKE/x.parquet'"],
    ['EXPLAIN ANALYZE behind a comment', "EXPLAIN /* select */ ANALYZE COPY (SELECT 1) TO 'LAKE/x.parquet'"],
    ['EXPORT DATABASE', "EXPORT DATABASE 'LAKE/export'"],
    ['SET', "SET memory_limit = '1TB'"],
    ['SET of what is locked', 'SET enable_external_access = true'],
    ['RESET', 'RESET allowed_directories'],
    ['ATTACH', "ATTACH 'LAKE/x.db'"],
    ['DETACH', 'DETACH memory'],
    ['USE', 'USE memory'],
    ['PRAGMA', 'PRAGMA database_list'],
    ['CALL', 'CALL duckdb_settings()'],
    ['INSTALL', 'INSTALL httpfs'],
    ['LOAD', "LOAD 'LAKE/x.duckdb_extension'"],
    ['CREATE TABLE', 'CREATE TABLE x AS SELECT 1'],
    ['CREATE VIEW in place of a view', 'CREATE OR REPLACE VIEW companies AS SELECT 1'],
    ['CREATE MACRO', 'CREATE MACRO count() AS 1'],
    ['INSERT', 'INSERT INTO firmlake.superseded_companies VALUES (1, 1)'],
    ['UPDATE', 'UPDATE firmlake.superseded_companies SET owner = 0'],
    ['DELETE', 'DELETE FROM firmlake.superseded_companies'],
    ['DROP', 'DROP VIEW companies'],
    ['PREPARE', 'PREPARE x AS SELECT 1'],
    ['CREATE TABLE of a PIVOT', 'CREATE TABLE x AS PIVOT companies ON internal_id'],
    ['CREATE TYPE beside the word', "CREATE TYPE pivot AS ENUM ('a')"],
    ['COPY of a PIVOT', "COPY (PIVOT companies ON internal_id) TO 'LAKE/x.parquet'"],
    ['INSERT of a PIVOT', 'INSERT INTO firmlake.superseded_companies PIVOT companies ON internal_id'],
    ['EXPORT DATABASE behind a PIVOT', "PIVOT companies ON internal_id; EXPORT DATABASE 'LAKE/export'"],
    [
      'COPY between parentheses of a PIVOT',
      "PIVOT companies ON internal_id); COPY (SELECT 1) TO 'LAKE/x.parquet'; FROM (SELECT 1",
    ],
    ['EXPORT DATABASE with the word', "EXPORT DATABASE 'LAKE/pivot'"],
    ['CALL with the word as an alias', 'CALL pivot(a)'],
    ['USE with the word', 'USE pivot'],
    [
      'EXPLAIN ANALYZE of a COPY of a PIVOT',
      "EXPLAIN ANALYZE COPY (PIVOT companies ON internal_id) TO 'LAKE/x'",
    ],
    ['a profile over a file of the lake', "FROM enable_profiling(save_location = 'FILE')"],
    [
      'a log beside the files of the lake',
      "FROM enable_logging(storage = 'file', storage_path = 'LAKE/log')",
    ],
    ['a checkpoint', 'FROM force_checkpoint()'],
    ['a log entry', "SELECT write_log('x')"],
    ['a seed', 'SELECT setseed(0.5)'],
    ['pointers', 'FROM arrow_scan(1, 2, 3)'],
    ['an effect in query()', "FROM query('FROM enable_profiling(save_location = ''FILE'')')"],
    ['an effect in a PIVOT', "PIVOT (SELECT 1 AS a, write_log('x')) ON a"],
    ['BEGIN', 'BEGIN'],
    ['CHECKPOINT', 'CHECKPOINT'],
    ['VACUUM', 'VACUUM'],
  ])('%s', async (_name, template) => {
    const file = lake.snapshot.partitions[0]?.files[0]?.path ?? ''
    const sql = template
      .replace('OUT', out())
      .replace('FILE', join(lake.lake, file))
      .replace('LAKE', lake.lake)
    const before = await readdir(lake.lake, { recursive: true })
    const bytes = await readFile(join(lake.lake, file))
    expect(await codeOf(sql)).toMatch(/^QUERY_(REFUSED|FAILED)$/)
    expect(await readdir(lake.lake, { recursive: true })).toEqual(before)
    expect(await readFile(join(lake.lake, file))).toEqual(bytes)
    expect(existsSync(out())).toBe(false)
    expect(await rowsOf('SELECT count(*) FROM companies')).toEqual([[3]])
  })

  test('a statement that is none, with the code for it', async () => {
    expect(await codeOf('SELEC 1')).toBe('QUERY_FAILED')
    expect(await codeOf('SELECT nothing FROM companies')).toBe('QUERY_FAILED')
    expect(await codeOf("SELECT error('at run time')")).toBe('QUERY_FAILED')
    expect(await codeOf('DROP VIEW companies')).toBe('QUERY_REFUSED')
  })
})

describe('LakeQuery reads nothing outside the lake:', () => {
  let outside: string
  beforeAll(async () => {
    outside = join(bench.folder, 'secret.csv')
    await writeFile(outside, 'a\nsecret\n')
    // A sibling whose path begins like the lake's.
    await mkdir(`${lake.lake}-other`)
    await writeFile(`${lake.lake}-other/secret.csv`, 'a\nsecret\n')
    await symlink(outside, join(lake.lake, 'link.csv'))
    await symlink(bench.folder, join(lake.lake, 'folder'))
  })

  const ways: readonly (readonly [string, (path: string) => string])[] = [
    ['by its name as a table', (path) => `SELECT * FROM '${path}'`],
    ['read_csv', (path) => `SELECT * FROM read_csv('${path}')`],
    ['read_text', (path) => `SELECT * FROM read_text('${path}')`],
    ['read_blob', (path) => `SELECT * FROM read_blob('${path}')`],
    ['read_json', (path) => `SELECT * FROM read_json('${path}')`],
    ['read_ndjson_objects', (path) => `SELECT * FROM read_ndjson_objects('${path}')`],
    ['read_parquet', (path) => `SELECT * FROM read_parquet('${path}')`],
    ['parquet_metadata', (path) => `SELECT * FROM parquet_metadata('${path}')`],
    ['sniff_csv', (path) => `SELECT * FROM sniff_csv('${path}')`],
    ['glob', (path) => `SELECT * FROM glob('${path}')`],
    ['query()', (path) => `SELECT * FROM query('SELECT * FROM read_text(''${path}'')')`],
    ['a subquery', (path) => `SELECT (SELECT content FROM read_text('${path}'))`],
    ['EXPLAIN', (path) => `EXPLAIN SELECT * FROM read_csv('${path}')`],
  ]
  test.each(ways)('%s', async (_name, sql) => {
    for (const path of [
      outside,
      join(lake.lake, '..', 'secret.csv'),
      `${lake.lake}/companies/../../secret.csv`,
      `${lake.lake}-other/secret.csv`,
      `file://${outside}`,
      relative('.', outside),
      '/etc/hostname',
    ]) {
      expect([path, await codeOf(sql(path))]).toEqual([path, 'QUERY_FAILED'])
    }
  })

  test('through links in the lake', async () => {
    expect(await codeOf(`SELECT * FROM read_text('${lake.lake}/link.csv')`)).toBe('QUERY_FAILED')
    expect(await codeOf(`SELECT * FROM read_text('${lake.lake}/folder/secret.csv')`)).toBe('QUERY_FAILED')
  })

  test('though files of the lake itself can be read', async () => {
    const path = lake.snapshot.partitions[0]?.files[0]?.path ?? ''
    expect(await rowsOf(`SELECT count(*) FROM read_parquet('${lake.lake}/${path}')`)).toEqual([[2]])
  })

  test('nor addresses of the network', async () => {
    expect(await codeOf("SELECT * FROM read_csv('https://127.0.0.1:1/x.csv')")).toBe('QUERY_FAILED')
    expect(await codeOf("SELECT * FROM 's3://bucket/x.parquet'")).toBe('QUERY_FAILED')
  })

  test('nor the environment', async () => {
    expect(await codeOf("SELECT getenv('HOME')")).toBe('QUERY_FAILED')
  })
})

test('LakeQuery works a view out once: itself and views that read it answer as before', async () => {
  const [asked, workedOut] = await Promise.all([opened(lake.snapshot), opened(lake.snapshot)])
  onTestFinished(() => {
    asked.close()
    workedOut.close()
  })
  const answers = async (from: LakeQuery): Promise<unknown[]> => [
    await rowsOf('FROM restatements ORDER BY ALL', from),
    await rowsOf('FROM load_changes ORDER BY ALL', from),
  ]
  const before = await answers(asked)
  expect(before[0]).toHaveLength(1)
  await workedOut.workOut('restatements')
  expect(await answers(workedOut)).toEqual(before)
  const plan = await rowsOf('EXPLAIN FROM restatements', workedOut)
  expect(JSON.stringify(plan)).not.toContain('parquet')
  await expect(workedOut.workOut('no_such_view')).rejects.toMatchObject({ code: 'QUERY_FAILED' })
})

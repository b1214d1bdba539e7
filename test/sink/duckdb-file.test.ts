import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { FileEntry } from '../../src/core/partition.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ask, companies, useDatabases } from './database-bench.ts'
import { belowAFile, describeSink, type Target } from './describe-sink.ts'
import { OWNER, withOwner } from './lake-rows.ts'

const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

const suiteColumns = 'id, big, text, value, flag, year, "at", strings, nested'

const target = (directory: string, session: Session): Target => {
  const [file, staging] = [join(directory, 'lake.duckdb'), join(directory, 'staging')]
  const runOf = ({ path }: FileEntry): string => /load=([^/]+)/.exec(path)?.[1] ?? ''
  return {
    sink: () => withOwner(duckdbFile(file, { staging })),
    rows: async (table) => {
      const there = await ask(
        session,
        file,
        `SELECT 1 FROM duckdb_tables() WHERE database_name = 'db' AND table_name = ${literal(table)}`,
      )
      if (there.length === 0) return []
      return ask(session, file, `SELECT ${suiteColumns.replace('id', `${OWNER} AS id`)} FROM db.${table}`)
    },
    files: {
      place: (one) => join(staging, runOf(one), one.table, one.path.split('/').at(-1) ?? ''),
      all: async () => (await filesBelow(staging)).sort(),
      unwritable: async () => withOwner(duckdbFile(file, { staging: await belowAFile(directory) })),
    },
  }
}

describeSink('duckdbFile', { keepsFiles: true, stages: true, make: target })

const bench = useDatabases()

/** Rows of `financials` by id, line item and value. */
const financials = (...rows: readonly (readonly [number, string, number])[]): string =>
  `SELECT internal_id::BIGINT AS internal_id, 'SE' AS country_code, 'Consolidated' AS consolidation, 'C' AS category,
    line_item, 2024::SMALLINT AS fiscal_year, value::DOUBLE AS value
  FROM (VALUES ${rows.map(([id, item, value]) => `(${id}, ${literal(item)}, ${value})`).join()}) AS t (internal_id, line_item, value)`
const FIGURES = 'SELECT internal_id, line_item, value FROM db.financials ORDER BY ALL'

test('commit replaces all rows of the companies that a run brings, in all tables of theirs', async () => {
  const { load, ask } = await bench()
  await load('run-1', [
    ['p-0', 'companies', companies([1, 'one'], [2, 'two'])],
    ['p-0', 'financials', financials([1, 'A', 10], [1, 'B', 11], [2, 'A', 20])],
  ])
  await load('run-2', [
    ['p-0', 'companies', companies([1, 'new'])],
    ['p-0', 'financials', financials([1, 'A', 12])],
  ])
  expect(await ask('SELECT internal_id, name FROM db.companies ORDER BY 1')).toEqual([
    { internal_id: '1', name: 'new' },
    { internal_id: '2', name: 'two' },
  ])
  expect(await ask(FIGURES)).toEqual([
    { internal_id: '1', line_item: 'A', value: 12 },
    { internal_id: '2', line_item: 'A', value: 20 },
  ])
})

test('commit removes the figures of a company whose new version has none', async () => {
  const { load, ask } = await bench()
  await load('run-1', [
    ['p-0', 'companies', companies([1, 'one'])],
    ['p-0', 'financials', financials([1, 'A', 10])],
  ])
  await load('run-2', [['p-0', 'companies', companies([1, 'one'])]])
  expect(await ask(FIGURES)).toEqual([])
})

test('of partitions with the same company the last one given counts', async () => {
  const { load, ask } = await bench()
  await load('run-1', [
    ['p-9', 'companies', companies([1, 'first'], [2, 'two'])],
    ['p-9', 'financials', financials([1, 'A', 1], [2, 'A', 2])],
    ['p-1', 'companies', companies([1, 'last'])],
    ['p-1', 'financials', financials([1, 'B', 3])],
  ])
  expect(await ask('SELECT name FROM db.companies ORDER BY internal_id')).toEqual([
    { name: 'last' },
    { name: 'two' },
  ])
  expect(await ask(FIGURES)).toEqual([
    { internal_id: '1', line_item: 'B', value: 3 },
    { internal_id: '2', line_item: 'A', value: 2 },
  ])
})

test('figures alone leave the other tables of their companies as they are', async () => {
  const { load, ask } = await bench()
  await load('run-1', [
    ['p-0', 'companies', companies([1, 'one'])],
    ['p-0', 'financials', financials([1, 'A', 10])],
  ])
  await load('run-2', [['p-0', 'financials', financials([1, 'B', 11])]])
  expect(await ask('SELECT name FROM db.companies')).toEqual([{ name: 'one' }])
  expect(await ask(FIGURES)).toEqual([{ internal_id: '1', line_item: 'B', value: 11 }])
})

test('a dictionary keeps its other entries', async () => {
  const items = (rows: string) => `SELECT * FROM (VALUES ${rows}) AS t (line_item, category, unit, scaled)`
  const { load, ask } = await bench()
  await load('run-1', [
    ['line_items', 'line_items', items("('A', 'C', 'amount', true), ('B', 'C', 'ratio', false)")],
  ])
  await load('run-2', [['line_items', 'line_items', items("('B', 'C', 'count', false)")]])
  expect(await ask('SELECT line_item, unit FROM db.line_items ORDER BY 1')).toEqual([
    { line_item: 'A', unit: 'amount' },
    { line_item: 'B', unit: 'count' },
  ])
})

test('a table that is none of the lake has no key and is replaced, with other columns too', async () => {
  const { load, ask } = await bench()
  await load('run-1', [['export', 'answer', "SELECT 'a' AS x, 1 AS n UNION ALL SELECT 'a', 1"]])
  expect(await ask('SELECT x, n FROM db.answer')).toEqual([
    { x: 'a', n: 1 },
    { x: 'a', n: 1 },
  ])
  await load('run-2', [['export', 'answer', 'SELECT true AS y']])
  expect(await ask('SELECT * FROM db.answer')).toEqual([{ y: true }])
})

test('tables have all declared columns with types and comments, and those with a row a record a primary key', async () => {
  const { load, ask } = await bench()
  await load('run-1', [
    ['p-0', 'companies', companies([1, 'one'])],
    ['p-0', 'financials', financials([1, 'A', 10])],
  ])
  const declared = TABLES.find(({ name }) => name === 'companies')?.columns ?? []
  const columns = await ask(
    "SELECT column_name AS name, comment FROM duckdb_columns() WHERE database_name = 'db' AND table_name = 'companies' ORDER BY column_index",
  )
  expect(columns.map(({ name }) => name)).toEqual([...declared.map(({ name }) => name), 'name'])
  expect(columns[0]).toEqual({ name: 'internal_id', comment: declared[0]?.about })
  expect(
    await ask(
      "SELECT table_name AS name, comment FROM duckdb_tables() WHERE database_name = 'db' AND table_name = 'financials'",
    ),
  ).toEqual([
    {
      name: 'financials',
      comment:
        'A row is one reported figure. Key: internal_id, consolidation, category, line_item, fiscal_year.',
    },
  ])
  const keys = await ask(
    "SELECT table_name AS t, constraint_column_names AS key FROM duckdb_constraints() WHERE database_name = 'db' AND constraint_type = 'PRIMARY KEY' ORDER BY 1",
  )
  expect(keys).toEqual([
    { t: 'companies', key: ['internal_id'] },
    { t: 'firmlake_loads', key: ['run'] },
  ])
})

test('a column that a later run brings is added', async () => {
  const { load, ask } = await bench()
  await load('run-1', [['p-0', 'companies', companies([1, 'one'])]])
  await load('run-2', [['p-0', 'companies', `SELECT *, 'x' AS invented FROM (${companies([2, 'two'])})`]])
  expect(await ask('SELECT internal_id, invented FROM db.companies ORDER BY 1')).toEqual([
    { internal_id: '1', invented: null },
    { internal_id: '2', invented: 'x' },
  ])
})

test('a key that comes twice in one partition is refused, and nothing of the run is loaded', async () => {
  const { load, ask, sink } = await bench()
  await load('run-1', [['p-0', 'companies', companies([1, 'one'])]])
  const twice = [
    ['p-0', 'companies', companies([2, 'two'])],
    ['p-0', 'financials', financials([2, 'A', 1], [2, 'A', 2])],
  ] as const
  await expect(load('run-2', twice)).rejects.toMatchObject({
    code: 'TARGET_FAILED',
    context: { table: 'financials' },
  })
  await expect(load('run-3', [['p-0', 'companies', companies([3, 'a'], [3, 'b'])]])).rejects.toMatchObject({
    code: 'TARGET_FAILED',
  })
  expect(await ask('SELECT internal_id FROM db.companies')).toEqual([{ internal_id: '1' }])
  expect(await sink.deliveredRuns()).toEqual(new Set(['run-1']))
})

test('a key that comes twice in the first run is refused, too, and no table is made', async () => {
  const { load, ask } = await bench()
  await expect(load('run-1', [['p-0', 'companies', companies([3, 'a'], [3, 'b'])]])).rejects.toMatchObject({
    code: 'TARGET_FAILED',
  })
  expect(await ask("SELECT table_name FROM duckdb_tables() WHERE database_name = 'db'")).toEqual([])
})

test('keys whose numbers are 64 or a multiple apart are different keys', async () => {
  const { load, ask } = await bench()
  const rows = `SELECT * REPLACE (n::SMALLINT AS fiscal_year)
FROM (${financials([1, 'A', 1])}), unnest([-65, -64, -1, 0, 63, 64, 127, 128, 2024]) AS numbers (n)`
  await load('run-1', [
    ['p-0', 'companies', companies([1, 'one'])],
    ['p-0', 'financials', rows],
  ])
  expect(await ask('SELECT count(*)::INTEGER AS n FROM db.financials')).toEqual([{ n: 9 }])
})

test('loaded tells the runs of the file, none where there is no file, and makes none', async () => {
  const { load, sink, file } = await bench()
  expect(await sink.deliveredRuns()).toEqual(new Set())
  expect(existsSync(file)).toBe(false)
  await load('run-1', [['p-0', 'companies', companies([1, 'one'])]])
  await load('run-2', [])
  expect(await sink.deliveredRuns()).toEqual(new Set(['run-1', 'run-2']))
})

test('commit again of a run that is loaded changes nothing, not even over newer rows', async () => {
  const { load, ask, file, staging } = await bench()
  await load('run-1', [['p-0', 'companies', companies([1, 'old'])]])
  await load('run-2', [['p-0', 'companies', companies([1, 'new'])]])
  await load('run-1', [['p-0', 'companies', companies([1, 'old'])]], duckdbFile(file, { staging }))
  expect(await ask('SELECT name FROM db.companies')).toEqual([{ name: 'new' }])
})

test('two sinks of one process take turns on a file', async () => {
  const { load, ask, file, staging } = await bench()
  const runs = ['a', 'b', 'c'].map((run, at) =>
    load(run, [['p-0', 'companies', companies([at, run])]], duckdbFile(file, { staging })),
  )
  await Promise.all(runs)
  expect(await ask('SELECT name FROM db.companies ORDER BY 1')).toEqual([
    { name: 'a' },
    { name: 'b' },
    { name: 'c' },
  ])
})

test('a file that another process has open is refused, and loaded when it is free', async () => {
  const { load, ask, file, sink } = await bench()
  const files = await load('run-1', [['p-0', 'companies', companies([1, 'one'])]])
  expect(files).toHaveLength(1)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'child-holds-database.ts'), file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const more = [['p-0', 'companies', companies([2, 'two'])]] as const
  await expect(load('run-2', more)).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining(`in use by another process (${child.pid})`),
  })
  await expect(sink.deliveredRuns()).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  child.stdin.end()
  await once(child, 'close')
  await load('run-2', more)
  expect(await ask('SELECT count(*) AS n FROM db.companies')).toEqual([{ n: '2' }])
})

test.each([
  ['a file that is no database', async (file: string) => writeFile(file, 'no database '.repeat(2000))],
  ['a folder', async (file: string) => void (await mkdir(file))],
])('%s is refused', async (_what, make) => {
  const { load, file } = await bench()
  await mkdir(join(file, '..'), { recursive: true })
  await make(file)
  await expect(load('run-1', [['p-0', 'companies', companies([1, 'one'])]])).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
  })
})

test('commit fails where a staged file is gone, and nothing of the run is loaded', async () => {
  const { sink, session, staging, ask } = await bench()
  const run = await sink.open('run-1')
  const { files } = await run.write('p-0', 'companies', session.relation(companies([1, 'one'])))
  await rm(staging, { recursive: true })
  await expect(run.commit(files)).rejects.toMatchObject({ code: 'TARGET_FAILED' })
  expect(await ask("SELECT table_name FROM duckdb_tables() WHERE database_name = 'db'")).toEqual([])
})

test('a sink without a folder for its staged rows leaves none among the temporary files', async () => {
  const [folder, temporary] = [await temporaryFolder(), await temporaryFolder()]
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    const sink = duckdbFile(join(folder, 'x.duckdb'))
    for (const end of ['commit', 'abort'] as const) {
      const run = await sink.open(end)
      const { files } = await run.write('p', 'companies', session.relation(companies([1, 'one'])))
      expect(await readdir(temporary)).toHaveLength(1)
      await (end === 'commit' ? run.commit(files) : run.abort())
    }
  } finally {
    engine.close()
  }
  expect(await readdir(temporary)).toEqual([])
})

import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Row } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { companyLines, textOf } from '../run/batch-bench.ts'
import { parseCsv } from '../sink/csv-text.ts'
import { copyLake } from '../support/lakes.ts'
import { type CliResult, type CommandOptions, runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, errorCode, SAMPLE, SAMPLE_COMPANIES } from './run-cli.ts'

interface Exported {
  readonly snapshot: number
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly path?: string }[]
}

let folder = ''
let lake = ''
let counts: Readonly<Record<string, number>> = {}

/** A lake that holds one file of the sample twice: every company has two versions. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await copyLake('twice', join(folder, 'lake'))
  const tables = await runCommandJson<readonly { name: string; rows: number }[]>([
    // The manifest knows how many rows are current where there is one version.
    ...['query', '--lake', lake, '--snapshot', '1'],
  ])
  counts = Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const exportTo = (to: string, args: readonly string[] = [], options?: CommandOptions): Promise<CliResult> =>
  runCommand(['export', '--lake', lake, '--to', to, ...args], options)

const exported = (to: string, args: readonly string[] = []): Promise<Exported> =>
  runCommandJson(['export', '--lake', lake, '--to', to, ...args])

const rowsOf = async (sql: string, file?: string): Promise<readonly Row[]> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    if (file !== undefined) await session.run(`ATTACH ${literal(file)} AS db (READ_ONLY)`)
    return await session.rows(sql)
  } finally {
    engine.close()
  }
}

test('export writes a table to one file, in the format that its name says', async () => {
  const out = await temporaryFolder()
  for (const name of ['a.csv', 'a.csv.gz', 'a.jsonl', 'a.parquet', 'a.arrow', 'a.arrows', 'a.xlsx']) {
    const { tables } = await exported(join(out, name), ['--table', 'employees'])
    expect(tables).toMatchObject([{ table: 'employees', rows: counts.employees, path: join(out, name) }])
  }
  const names = ['a.arrow', 'a.arrows', 'a.csv', 'a.csv.gz', 'a.jsonl', 'a.parquet', 'a.xlsx']
  expect((await readdir(out)).sort()).toEqual(names)
  const lines = (text: Buffer): string[] => String(text).split('\r\n').sort()
  expect(lines(gunzipSync(await readFile(join(out, 'a.csv.gz'))))).toEqual(
    lines(await readFile(join(out, 'a.csv'))),
  )
  const [header = [], ...records] = parseCsv(await readFile(join(out, 'a.csv'), 'utf8'))
  expect(header.map(({ text }) => text)).toEqual(
    TABLES.find(({ name }) => name === 'employees')?.columns.map(({ name }) => name),
  )
  expect(records).toHaveLength(counts.employees ?? 0)
  const sums = await Promise.all(
    ['parquet', 'ndjson'].map((kind) =>
      rowsOf(
        `SELECT count(*) AS n, sum(employees) AS s FROM read_${kind}(${literal(join(out, kind === 'parquet' ? 'a.parquet' : 'a.jsonl'))})`,
      ),
    ),
  )
  expect(sums[0]).toEqual(sums[1])
  expect(sums[0]).toMatchObject([{ n: String(counts.employees) }])
})

test('export writes all tables to a folder, with --history all versions', async () => {
  const out = join(await temporaryFolder(), 'deep', 'out')
  const { tables, snapshot } = await exported(`csv:${out}`)
  expect(snapshot).toBe(2)
  expect(tables.map(({ table, rows }) => [table, rows])).toEqual(
    TABLES.map(({ name }) => [name, counts[name]]),
  )
  expect((await readdir(out)).sort()).toEqual(TABLES.map(({ name }) => `${name}.csv`).sort())
  await exported(`csv:${out}`, ['--history', '--table', 'companies'])
  expect(parseCsv(await readFile(join(out, 'companies_history.csv'), 'utf8'))).toHaveLength(1 + 600)
})

test.each(['a/b', '../b', '.hidden', ''])('export of rows as table %j is wrong usage', async (table) => {
  const out = join(await temporaryFolder(), 'out')
  const refused = await exportTo(`csv:${out}`, ['--sql', 'SELECT 1 AS a', '--table', table, '--json'])
  expect([refused.code, errorCode(refused)]).toEqual([2, 'USAGE'])
})

test('export brings a DuckDB file in step, again and again', async () => {
  const file = join(await temporaryFolder(), 'l.duckdb')
  const tables = ['--table', 'companies', '--table', 'financials']
  for (let time = 0; time < 2; time += 1) await exported(file, tables)
  await exported(`duckdb:${file}`, ['--sql', 'SELECT 42 AS answer', '--table', 'answers'])
  const shown = `SELECT (SELECT count(*) FROM db.companies)::INTEGER AS companies,
    (SELECT count(*) FROM db.financials)::INTEGER AS financials, answer FROM db.answers`
  const { companies, financials } = counts
  expect(await rowsOf(shown, file)).toEqual([{ companies, financials, answer: 42 }])
  expect(await readdir(join(file, '..'))).toEqual(['l.duckdb'])
})

test('export of an answer keeps its order, and takes a comment at its end', async () => {
  const out = join(await temporaryFolder(), 'x.csv')
  const sql = 'SELECT i AS id FROM range(300000) AS t (i) ORDER BY i DESC; -- all'
  await exported(out, ['--sql', sql])
  const descending = ['id', ...Array.from({ length: 300_000 }, (_, at) => 299_999 - at), ''].join('\r\n')
  expect((await readFile(out, 'utf8')) === descending).toBe(true)
  expect((await exportTo('-', ['--format', 'csv', '--sql', sql])).stdout === descending).toBe(true)
})

test('export to standard output gives the bytes of the file', async () => {
  const out = await temporaryFolder()
  const sql = `SELECT internal_id, company_name, keywords, generated_at FROM companies
    UNION ALL SELECT 0, chr(65279) || 'bom', ['a'], NULL ORDER BY 1`
  for (const format of ['csv', 'jsonl']) {
    await exported(join(out, `x.${format}`), ['--sql', sql])
    // A slow machine would say how far it is.
    const { code, stdout, stderr } = await exportTo('-', ['--format', format, '--sql', sql, '--quiet'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout === (await readFile(join(out, `x.${format}`), 'utf8')), format).toBe(true)
  }
})

test('export --names puts names beside ids, without the protected ones, and keeps every row', async () => {
  const out = await temporaryFolder()
  const both = join(out, 'lake')
  await copyLake('relations', both)
  await runCommandJson(['convert', `${SAMPLE}/relations-0001.jsonl.br`, '--lake', both, '--again'])
  const parquet = (args: readonly string[]) =>
    runCommandJson<Exported>(['export', '--lake', both, '--to', `parquet:${out}`, '--names', ...args])
  const { tables } = await parquet([])
  await parquet(['--history', '--table', 'roles'])
  const plain = await runCommandJson<Exported>(['export', '--lake', both, '--to', `csv:${out}`])
  const counted = (of: Exported['tables']) => of.map(({ table, rows }) => [table, rows])
  expect(counted(tables)).toEqual(counted(plain.tables))
  const names = (table: string) => `(SELECT list(column_name ORDER BY column_index)[1:7]::VARCHAR FROM
    (SELECT name AS column_name, row_number() OVER () AS column_index FROM parquet_schema(${literal(`${out}/${table}.parquet`)}) WHERE name <> 'duckdb_schema'))`
  const file = (table: string) => `read_parquet(${literal(`${out}/${table}.parquet`)})`
  const [row] = await rowsOf(`SELECT ${names('financials')} AS financials, ${names('roles')} AS roles,
    (SELECT count(*) FROM ${file('financials')} AS f JOIN ${file('companies')} AS c USING (internal_id)
      WHERE f.company_name IS DISTINCT FROM c.company_name) AS other_names,
    (SELECT count(*) FROM ${file('roles')} AS r JOIN ${file('relation_entities')} AS e USING (company_id, entity_no)
      WHERE r.entity_name IS DISTINCT FROM CASE WHEN NOT coalesce(e.is_protected, false) THEN e.name END) AS other_entities,
    (SELECT count(entity_name) > 0 FROM ${file('roles')}) AS named,
    (SELECT count(*) FROM ${file('roles')} JOIN ${file('relation_entities')} USING (company_id, entity_no)
      WHERE is_protected) > 0 AS some_protected,
    (SELECT count(*) / (SELECT count(*) FROM ${file('roles')}) FROM ${file('roles_history')}) AS versions`)
  expect(row).toEqual({
    financials: '[internal_id, company_name, country_code, consolidation, category, line_item, fiscal_year]',
    roles: '[company_id, company_name, entity_no, no, direction, entity_id, entity_name]',
    other_names: '0',
    other_entities: '0',
    named: true,
    some_protected: true,
    versions: 2,
  })
  for (const args of [
    ['--sql', 'SELECT 1 AS a', '--to', '-', '--format', 'csv'],
    ['--to', join(out, 'x.duckdb')],
  ])
    expect((await runCommand(['export', '--lake', both, '--names', ...args])).code).toBe(2)
})

test('export of xlsx warns of what a sheet has no room for, and is no target of runs', async () => {
  const out = await temporaryFolder()
  const sql = ['--table', 'long', '--sql', "SELECT repeat('x', 40000) AS x"]
  const { code, stderr } = await exportTo(join(out, 'x.xlsx'), sql)
  expect([code, stderr]).toEqual([
    0,
    'warning: "long" has 1 texts longer than the 32767 characters of a cell: they end with …\n',
  ])
  const refused = await runCommand([
    'convert',
    SAMPLE_COMPANIES,
    '--lake',
    join(out, 'l'),
    '--sink',
    `xlsx:${out}/x`,
    '--json',
  ])
  expect([refused.code, errorCode(refused), await readdir(out)]).toEqual([1, 'TARGET_REFUSED', ['x.xlsx']])
  const failed = await exportTo(join(out, 'y.xlsx'), ['--sql', "SELECT error('no') AS x"])
  expect([failed.code, await readdir(out)]).toEqual([1, ['x.xlsx']])
})

test('export of an earlier snapshot shows what was then', async () => {
  const { stdout } = await exportTo('-', [
    '--format',
    'csv',
    '--snapshot',
    '1',
    '--sql',
    'SELECT count(*) AS n FROM companies_history',
  ])
  expect(stdout).toBe('n\r\n300\r\n')
})

test('export neutralises formulas unless told not to', async () => {
  const sql = ['--format', 'csv', '--sql', "SELECT '=1+1' AS v"]
  expect((await exportTo('-', sql)).stdout).toBe("v\r\n'=1+1\r\n")
  expect((await exportTo('-', [...sql, '--no-neutralise'])).stdout).toBe('v\r\n=1+1\r\n')
})

test('export refuses a file that is there, and replaces it with --overwrite', async () => {
  const out = join(await temporaryFolder(), 'x.csv')
  await writeFile(out, 'mine')
  const args = ['--sql', 'SELECT 1 AS a']
  const refused = await exportTo(out, [...args, '--json'])
  expect([refused.code, errorCode(refused)]).toEqual([1, 'TARGET_REFUSED'])
  expect(await readFile(out, 'utf8')).toBe('mine')
  await exported(out, [...args, '--overwrite'])
  expect(await readFile(out, 'utf8')).toBe('a\r\n1\r\n')
})

test('export to a file that is named after a table writes that table', async () => {
  const out = await temporaryFolder()
  for (const name of ['companies.csv', 'employees.csv.gz', 'companies.xlsx']) {
    const { tables } = await exported(join(out, name))
    const table = name.split('.')[0] ?? ''
    expect(tables).toMatchObject([{ table, rows: counts[table] }])
  }
  const { tables } = await exported(join(out, 'companies.jsonl'), ['--table', 'employees'])
  expect(tables).toMatchObject([{ table: 'employees' }])
})

test('export of all tables to one workbook writes a sheet for each', async () => {
  const out = await temporaryFolder()
  const { tables } = await exported(join(out, 'firms.xlsx'))
  expect(tables.map(({ table, rows }) => [table, rows])).toEqual(
    TABLES.map(({ name }) => [name, counts[name]]),
  )
  expect(new Set(tables.map(({ path }) => path))).toEqual(new Set([join(out, 'firms.xlsx')]))
  expect(await readdir(out)).toEqual(['firms.xlsx'])
})

test('export --bom and --delimiter write CSV as another spreadsheet expects it, and nothing else', async () => {
  const out = await temporaryFolder()
  const path = join(out, 'x.csv')
  const sql = `SELECT 'a;b' AS "c;d", 'e,f' AS g, 1.5 AS h`
  await exported(path, ['--sql', sql, '--bom', '--delimiter', ';'])
  expect(await readFile(path, 'utf8')).toBe('\ufeff"c;d";g;h\r\n"a;b";e,f;1.5\r\n')
  const printed = await exportTo('-', ['--format', 'csv', '--sql', sql, '--delimiter', 'tab'])
  expect(printed.stdout).toBe('c;d\tg\th\r\na;b\te,f\t1.5\r\n')
  for (const args of [['--bom'], ['--delimiter', ';']])
    expect((await exportTo(join(out, 'x.parquet'), ['--table', 'companies', ...args])).code).toBe(2)
  expect((await exportTo(join(out, 'y.csv'), ['--table', 'companies', '--delimiter', 'x'])).code).toBe(2)
  expect(await readdir(out)).toEqual(['x.csv'])
})

test('an export that fails leaves an older file and nothing besides', async () => {
  const out = await temporaryFolder()
  const path = join(out, 'x.csv')
  await writeFile(path, 'mine')
  const failed = await exportTo(path, [
    '--overwrite',
    '--sql',
    'SELECT CAST(company_name AS BIGINT) AS a FROM companies',
  ])
  expect(failed.code).toBe(1)
  expect(failed.stderr).not.toContain('Company')
  expect(await readFile(path, 'utf8')).toBe('mine')
  expect(await readdir(out)).toEqual(['x.csv'])
})

test.each([
  ['x.csv', [], 2, 'USAGE'],
  ['x.csv', ['--table', 'nothing'], 2, 'USAGE'],
  ['xlsx:out', ['--sql', 'SELECT 1 AS x', '--table', '../x'], 2, 'USAGE'],
  ['csv:out', ['--sql', 'SELECT 1 AS x', '--table', '/tmp/x'], 2, 'USAGE'],
  ['x.duckdb', ['--sql', 'SELECT 1 AS x', '--table', '../../x'], 2, 'USAGE'],
  ['x.csv', ['--table', 'companies', '--table', 'employees'], 2, 'USAGE'],
  ['x.csv', ['--sql', 'SELECT 1', '--history'], 2, 'USAGE'],
  ['-', ['--table', 'companies'], 2, 'USAGE'],
  ['x.csv', ['--format', 'csv', '--table', 'companies'], 2, 'USAGE'],
  ['x.xml', ['--table', 'companies'], 1, 'TARGET_REFUSED'],
  ['x.csv', ['--sql', "COPY (SELECT 1) TO 'y.csv'"], 1, 'QUERY_REFUSED'],
  ['x.csv', ['--sql', 'SELECT nothing'], 1, 'QUERY_FAILED'],
  ['x.csv', ['--sql', "SELECT * FROM read_csv('/etc/passwd')"], 1, 'QUERY_FAILED'],
  ['x.csv', ['--snapshot', '9', '--table', 'companies'], 1, 'SNAPSHOT_NOT_FOUND'],
] as const)('export to %s with %j ends with %i and %s', async (to, args, code, error) => {
  const cwd = await temporaryFolder()
  const result = await exportTo(to, [...args, ...(to === '-' ? [] : ['--json'])], { cwd })
  expect(result.code).toBe(code)
  expect(result.stderr).toContain(error)
  expect(await readdir(cwd)).toEqual([])
})

/** Waits until an export has begun to write. */
const untilWriting = (out: string): Promise<void> =>
  expect
    .poll(
      async () =>
        (await readdir(out, { recursive: true })).filter(
          (name) => name.includes('.tmp-') && name.endsWith('/x'),
        ),
      {
        timeout: 20_000,
        interval: 20,
      },
    )
    .toHaveLength(1)

/** An export without end as a process, which is given as soon as it has started. */
const endless = (to: string, onStart: (child: ChildProcess) => void): Promise<CliResult> =>
  cli(['export', '--lake', lake, '--to', to, ...ENDLESS], { onStart })

const ENDLESS = ['--sql', 'SELECT i, md5(i::VARCHAR) AS h FROM range(2000000000) AS t (i)', '--table', 'x']

test('a lake is no target: neither for an export nor for a run, which does not begin', async () => {
  const failed = await exportTo(`parquet:${lake}`, ['--table', 'companies', '--overwrite', '--json'])
  expect([failed.code, errorCode(failed)]).toEqual([1, 'TARGET_REFUSED'])
  const own = join(await temporaryFolder(), 'own')
  const run = await runCommand([
    'convert',
    SAMPLE_COMPANIES,
    '--lake',
    own,
    '--sink',
    `jsonl:${own}`,
    '--json',
  ])
  expect([run.code, errorCode(run)]).toEqual([1, 'TARGET_REFUSED'])
  expect(existsSync(own)).toBe(false)
})

test('an export that its database refuses names no run', async () => {
  const file = join(await temporaryFolder(), 'l.duckdb')
  const sql = ['--sql', 'SELECT 1 AS internal_id UNION ALL SELECT 1', '--table', 'companies', '--json']
  await exported(file, ['--table', 'companies'])
  const failed = await exportTo(file, sql)
  expect(errorCode(failed)).toBe('TARGET_FAILED')
  expect(failed.stderr).toContain('Cannot load the export in DuckDB file')
})

test('Ctrl-C ends an export with 130 and leaves nothing', async () => {
  const out = await temporaryFolder()
  let child: ChildProcess | undefined
  const running = endless(join(out, 'x.csv'), (one) => {
    child = one
  })
  await untilWriting(out)
  child?.kill('SIGINT')
  const { code, stderr } = await running
  expect(code).toBe(130)
  expect(stderr).toContain('run the same command again')
  expect(stderr).not.toContain('resume')
  expect(await readdir(out)).toEqual([])
})

test('what a killed export leaves is removed by the next one', async () => {
  const out = await temporaryFolder()
  let child: ChildProcess | undefined
  const running = endless(join(out, 'x.csv'), (one) => {
    child = one
  })
  await untilWriting(out)
  child?.kill('SIGKILL')
  await running
  expect((await readdir(out)).every((name) => name.startsWith('.tmp-'))).toBe(true)
  await exported(join(out, 'y.csv'), ['--table', 'line_items'])
  expect(await readdir(out)).toEqual(['y.csv'])
})

test('a run delivers to sinks, and the next one brings in step what was left out', async () => {
  const out = await temporaryFolder()
  const own = join(out, 'lake')
  const database = join(out, 'l.duckdb')
  const sinks = ['--sink', `csv:${join(out, 'csv')}`, '--sink', database]
  await mkdir(join(out, 'csv'))
  const file = join(out, 'companies.jsonl')
  await writeFile(file, textOf(companyLines(3)))
  // The file's place is taken: that sink fails, the other one gets its run, and the lake is committed.
  await mkdir(database)
  const first = await runCommand(['convert', file, '--lake', own, ...sinks])
  expect(first.code).toBe(1)
  expect(first.stderr).toMatch(/TARGET_REFUSED.*lake itself is committed/)
  expect(await readdir(join(out, 'csv', '_loaded'))).toHaveLength(1)
  await rm(database, { recursive: true })
  const second = await runCommand(['convert', file, '--lake', own, ...sinks])
  expect(second.stderr).toMatch(/Delivered 1 run to duckdb/)
  expect(second.code).toBe(0)
  expect(await rowsOf('SELECT count(*) AS n FROM db.companies', database)).toEqual([{ n: '3' }])
})

test.each([
  [['--sink', 'x.csv'], 'TARGET_REFUSED'],
  [['--sink', 'nowhere'], 'TARGET_REFUSED'],
  [['--publish', 'hudi'], 'USAGE'],
] as const)('a run with %j is refused before it begins', async (args, error) => {
  const own = join(await temporaryFolder(), 'lake')
  const refused = await runCommand(['convert', SAMPLE_COMPANIES, '--lake', own, '--json', ...args])
  expect(errorCode(refused)).toBe(error)
  expect(await readdir(join(own, '..'))).toEqual([])
})

test('export makes the last folder of a file, and none above it', async () => {
  const out = await temporaryFolder()
  expect((await exportTo(join(out, 'b', 'x.csv'), ['--table', 'companies'])).code).toBe(0)
  expect(await readdir(join(out, 'b'))).toEqual(['x.csv'])
  for (const name of ['x.csv', 'x.duckdb']) {
    const refused = await exportTo(join(out, 'no', 'b', name), ['--table', 'companies', '--json'])
    expect([refused.code, errorCode(refused)]).toEqual([1, 'TARGET_REFUSED'])
    expect(refused.stderr).toContain('expected at most the last folder to be missing')
  }
  expect(await readdir(out)).toEqual(['b'])
})

test('export --sql takes a PIVOT whose columns come from the data', async () => {
  const out = await temporaryFolder()
  const sql = "PIVOT (SELECT coalesce(country_code, '-') AS c FROM companies) ON c USING count(*)"
  const { tables } = await exported(join(out, 'x.jsonl'), ['--sql', sql])
  expect(tables).toMatchObject([{ rows: 1 }])
  const counted: Readonly<Record<string, number>> = JSON.parse(await readFile(join(out, 'x.jsonl'), 'utf8'))
  expect(Object.values(counted).reduce((a, b) => a + b, 0)).toBe(counts.companies)
})

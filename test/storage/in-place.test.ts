/** A lake in a bucket that is read in place: the same answers by ranges, counted at a proxy, and no way out of the lake. */

import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, type TestContext, test, vi } from 'vitest'
import { openQuery, query } from '../../src/jobs/query.ts'
import { records } from '../../src/jobs/records.ts'
import type { AccessReport } from '../../src/lake/files/file-access.ts'
import type { QueryRow } from '../../src/lake/query/read-rows.ts'
import type { OpenQueryOptions, RecordsOptions } from '../../src/options/interfaces.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { listTree } from '../../src/support/list-files.ts'
import { cli } from '../cli/run-cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type InPlaceBench, inPlaceBench, PLACE } from './in-place-bench.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 })

const benchOf = inPlaceBench()

/** Files of a table where the server keeps its objects. */
const objectsOf = async ({ server }: InPlaceBench, table: string): Promise<readonly string[]> => {
  const found = await listTree(join(server.folder, PLACE.slice('s3://'.length), table))
  return found.filter(({ kind }) => kind === 'file').map(({ path }) => path)
}

const bytesOf = async (bench: InPlaceBench): Promise<number> => {
  const found = await listTree(join(bench.server.folder, PLACE.slice('s3://'.length)))
  return found.reduce((sum, { kind, bytes }) => sum + (kind === 'file' ? bytes : 0), 0)
}

/** Rows, and how the lake was read for them. */
const asked = async (sql: string, options: Pick<OpenQueryOptions, 'checked'> = {}) => {
  const opened = await openQuery({ lake: PLACE, ...options })
  try {
    const { rows } = await opened.run(sql)
    const all: unknown[] = []
    for await (const chunk of rows) all.push(...chunk)
    return { rows: all, report: opened.report() }
  } finally {
    opened.close()
  }
}

const recordsOf = async (options: Omit<RecordsOptions, 'lake'>) => {
  const strings: string[] = []
  let report: AccessReport | undefined
  const onRead = (read: AccessReport): void => {
    report = read
  }
  for await (const text of records({ ...options, lake: PLACE, onRead })) strings.push(text)
  return { strings, report }
}

const someId = async (): Promise<number> => {
  const [row] = await query({ lake: PLACE, sql: 'SELECT min(internal_id) AS id FROM relations' })
  return Number(row?.id)
}

test.for([
  'SELECT (SELECT count(*) FROM companies) AS now, (SELECT count(*) FROM companies_history) AS ever',
  'SELECT country_code, count(*), max(value) FROM financials GROUP BY ALL ORDER BY ALL',
  'SELECT * FROM companies ORDER BY internal_id',
  'SELECT f.* FROM financials f JOIN companies USING (internal_id) ORDER BY ALL LIMIT 100',
  'SELECT * FROM roles ORDER BY ALL',
  'DESCRIBE companies',
  'SELECT column_name, min, max, count FROM (SUMMARIZE SELECT internal_id, fiscal_year FROM financials)',
  'PIVOT financials ON consolidation USING count(*) GROUP BY country_code ORDER BY country_code',
  'SELECT partition IS NOT NULL, reason FROM quarantine',
])('in place gives what copies give: %s', async (sql, context) => {
  benchOf(context)
  const inPlace = await asked(sql)
  expect(inPlace.report.kind).toBe('in place')
  const copies = await asked(sql, { checked: true })
  expect(copies.report.kind).toBe('copies')
  expect(inPlace.rows).toEqual(copies.rows)
})

test('a number of rows is that of the manifest, and no table is opened for it', async (context) => {
  const bench = benchOf(context)
  bench.proxy.take()
  const { rows } = await asked('SELECT count(*) FROM financials_history')
  expect(Number(Object.values(rows[0] ?? {})[0])).toBeGreaterThan(1000)
  expect(bench.proxy.take().requests.filter((one) => one.includes('/financials/'))).toEqual([])
})

test('a count of companies by their ids fetches footers and ids, and leaves nothing of tables on this machine', async (context) => {
  const bench = benchOf(context)
  const localFiles = () => readdir(storageOf(PLACE).local, { recursive: true }).catch(() => [])
  const before = await localFiles()
  bench.proxy.take()
  const { report } = await asked('SELECT count(DISTINCT internal_id) FROM companies')
  const { requests, bytes } = bench.proxy.take()
  const files = (await objectsOf(bench, 'companies')).length
  // A footer and a column of ids each, that of what is superseded, and the manifest: its list, its root, its parts.
  expect(requests.length).toBeLessThanOrEqual(2 * files + 8)
  expect(bytes).toBeLessThan((await bytesOf(bench)) / 8)
  const ofTables = requests.filter((request) => request.includes('.parquet'))
  expect(report).toMatchObject({ kind: 'in place', files: files + 1, requests: ofTables.length })
  expect(ofTables.every((request) => /bytes=\d+-\d+$/.test(request))).toBe(true)
  expect(await localFiles()).toEqual(before)
})

test('one company costs its row groups, and partitions that do not hold it are not opened', async (context) => {
  const bench = benchOf(context)
  const id = await someId()
  bench.proxy.take()
  const { strings, report } = await recordsOf({ ids: [id] })
  const { requests, bytes } = bench.proxy.take()
  expect(report?.kind).toBe('in place')
  expect(strings).toEqual((await recordsOf({ ids: [id], checked: true })).strings)
  expect(strings).toHaveLength(2)
  // Of the parts that hold it, which are a third of so small a lake.
  expect(bytes).toBeLessThan((await bytesOf(bench)) / 2)
  const opened = new Set(requests.flatMap((request) => /\/financials\/.*\.parquet/.exec(request) ?? []))
  expect(opened.size).toBe(1)
})

test('all records and tables that are read whole are hashed copies', async (context) => {
  benchOf(context)
  const { report } = await recordsOf({ content: 'relations' })
  expect(report?.kind).toBe('copies')
})

/** Another lake's bucket and a file of this machine, which no statement may read. */
const forbidden = async (context: TestContext) => {
  const bench = benchOf(context)
  const [file = ''] = await objectsOf(bench, 'line_items')
  const [other, beside] = ['lakes/deep/lake2/a.parquet', 'others/a.parquet']
  for (const path of [other, beside]) {
    await mkdir(dirname(join(bench.server.folder, path)), { recursive: true })
    await copyFile(file, join(bench.server.folder, path))
  }
  const local = join(await temporaryFolder(), 'a.parquet')
  await copyFile(file, local)
  const lakeFile = file.slice(bench.server.folder.length + 1)
  return {
    bench,
    addresses: [`s3://${other}`, `s3://${beside}`, `s3://${lakeFile}`, local, `file://${local}`],
  }
}

test('a statement reads nothing but the lake: no bucket, no address, no file, no database, no secret', async (context) => {
  const { bench, addresses } = await forbidden(context)
  const opened = await openQuery({ lake: PLACE })
  const run = async (sql: string): Promise<readonly QueryRow[]> => {
    const { rows } = await opened.run(sql)
    const all: QueryRow[] = []
    for await (const chunk of rows) all.push(...(chunk as unknown as QueryRow[]))
    return all
  }
  try {
    await run('SELECT count(*) FROM line_items')
    bench.proxy.take()
    const web = [
      `${bench.proxy.endpoint}/others/a.parquet`,
      'https://example.com/a.parquet',
      'hf://datasets/a/b.parquet',
    ]
    for (const address of [...addresses, ...web]) {
      for (const read of ['read_parquet', 'read_text', 'read_blob', 'read_csv', 'glob', 'parquet_metadata'])
        await expect(
          run(`SELECT * FROM ${read}('${address}')`),
          `${read} of ${address}`,
        ).rejects.toMatchObject({
          code: 'QUERY_FAILED',
        })
      await expect(run(`FROM '${address}'`)).rejects.toMatchObject({ code: 'QUERY_FAILED' })
      for (const sql of [
        `ATTACH '${address}' AS a`,
        `COPY line_items TO '${address}'`,
        `EXPORT DATABASE '${address}'`,
      ])
        await expect(run(sql), sql).rejects.toMatchObject({ code: 'QUERY_REFUSED' })
    }
    for (const sql of [
      "SET allowed_directories = ['/']",
      'CREATE SECRET (TYPE http)',
      'INSTALL httpfs',
      "LOAD 'httpfs'",
    ])
      await expect(run(sql), sql).rejects.toMatchObject({ code: 'QUERY_REFUSED' })
    // Nobody asks for credentials, and none ever reach DuckDB.
    for (const name of ['duckdb_secrets', 'duckdb_settings'])
      await expect(run(`SELECT * FROM ${name}()`), name).rejects.toMatchObject({ code: 'QUERY_REFUSED' })
    // Of the manifest alone: it says which Parquet files are the lake's.
    const { requests } = bench.proxy.take()
    expect(requests.filter((one) => !one.startsWith(`GET /lakes/deep/lake/_manifest/parts/`))).toEqual([])
  } finally {
    opened.close()
  }
})

test("a session's address on the loopback gives the files of its statements and no others", async (context) => {
  benchOf(context)
  const server = await storageOf(PLACE).serveRanges?.()
  if (server === undefined) throw new TypeError('A bucket serves ranges')
  try {
    const { origin } = new URL(server.url)
    const status = async (url: string): Promise<number> => (await fetch(url)).status
    expect(await status(`${server.url}1.parquet`)).toBe(404)
    server.offer([{ path: 'companies/none.parquet', bytes: 10, sha256: '' }])
    const url = server.urlOf('companies/none.parquet') ?? ''
    expect(await status(`${origin}/1.parquet`)).toBe(404)
    expect(await status(url.replace(/\/[0-9a-f]{32}\//, `/${'0'.repeat(32)}/`))).toBe(404)
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow()
    expect(server.takeFailure()).toMatchObject({ code: 'LAKE_DAMAGED' })
    expect(server.takeFailure()).toBeUndefined()
  } finally {
    server.close()
  }
})

test.for([
  ['replaced by one of the same length', (bytes: Buffer) => bytes.fill(0, 100, 200)],
  ['of another length', (bytes: Buffer) => bytes.subarray(0, -1)],
] as const)('an object that is %s since it was opened is an error', async ([, change], context) => {
  benchOf(context)
  const opened = await openQuery({ lake: PLACE })
  const storage = storageOf(PLACE)
  const [file] = (await storage.list('financials')).map(({ path }) => path)
  const before = await storage.read(file ?? '')
  if (file === undefined || before === null) throw new TypeError('The lake has figures')
  try {
    const count = async (sql: string): Promise<void> => {
      for await (const _chunk of (await opened.run(sql)).rows);
    }
    await count('SELECT count(DISTINCT fiscal_year) FROM financials_history')
    await storage.replace(file, change(Buffer.from(before)))
    await expect(count('SELECT sum(value) FROM financials_history')).rejects.toMatchObject({
      code: 'LAKE_DAMAGED',
      message: expect.stringContaining(`"${PLACE}/${file}"`),
    })
  } finally {
    opened.close()
    await storage.replace(file, before)
  }
})

test('more statements at once than Node has threads: each gets its answer', async (context) => {
  benchOf(context)
  const sums = await Promise.all(
    Array.from({ length: 8 }, () =>
      query({ lake: PLACE, sql: 'SELECT max(value) AS most, count(*) AS figures FROM financials' }),
    ),
  )
  expect(new Set(sums.map((rows) => JSON.stringify(rows))).size).toBe(1)
})

test('the commands say how they read: in place; copies and what would help; --checked', async (context) => {
  benchOf(context)
  const count = ['query', 'SELECT count(DISTINCT internal_id) FROM companies', '--lake', PLACE]
  const inPlace = await cli(count)
  expect(inPlace.stderr).toMatch(/Read in place, not hashed: .* of \d+ files in \d+ requests; --checked/)
  const env = {
    FIRMLAKE_HTTPFS: '',
    HOME: await temporaryFolder(),
    FIRMLAKE_WORK_DIR: await temporaryFolder(),
  }
  const copies = await cli(count, { env })
  expect(copies.stderr).toMatch(/Fetched .* as copies of whole files\. With DuckDB's extension httpfs/)
  const checked = await cli([...count, '--checked'])
  expect(checked.stderr).not.toMatch(/Read in place|httpfs/)
  expect(new Set([inPlace.stdout, copies.stdout, checked.stdout]).size).toBe(1)
  const id = String(await someId())
  const one = await cli(['records', '--id', id, '--lake', PLACE])
  expect(one.stderr).toMatch(/Read in place, not hashed/)
})

test('a file that is no httpfs of this DuckDB is an error that names it', async (context) => {
  benchOf(context)
  const file = join(await temporaryFolder(), 'httpfs.duckdb_extension')
  await writeFile(file, await readFile(process.execPath).then((bytes) => bytes.subarray(0, 4096)))
  const named = process.env.FIRMLAKE_HTTPFS
  vi.stubEnv('FIRMLAKE_HTTPFS', file)
  onTestFinished(() => void vi.stubEnv('FIRMLAKE_HTTPFS', named))
  await expect(query({ lake: PLACE, sql: 'SELECT 1' })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(`Cannot load httpfs from "${file}"`),
  })
})

test('proxies of the environment are not asked for the loopback', async (context) => {
  benchOf(context)
  const count = ['query', 'SELECT count(DISTINCT internal_id) FROM companies', '--lake', PLACE]
  const nobody = 'http://127.0.0.1:9'
  const env = { HTTP_PROXY: nobody, http_proxy: nobody, ALL_PROXY: nobody, all_proxy: nobody }
  expect(await cli(count, { env })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Read in place'),
  })
})

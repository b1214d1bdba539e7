import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { query } from '../../../src/jobs/query.ts'
import { verify } from '../../../src/jobs/verify.ts'
import { viewsSql } from '../../../src/jobs/views.ts'
import { withDatabases } from '../../../src/lake/duckdb/database-files.ts'
import { Engine, type Row, type Session } from '../../../src/lake/duckdb/engine.ts'
import { keptViews } from '../../../src/lake/views/lake-sql.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { keptDatabase } from '../../../src/manifest/lake-file/kept-database.ts'
import { madeViews, writeLakeFiles } from '../../../src/manifest/lake-file/lake-file.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { exportTables } from '../../../src/targets/export/export-tables.ts'
import { copyLake, firm, sharedLake } from '../../support/lakes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

beforeEach(() => {
  vi.stubEnv('FIRMLAKE_DUCKLAKE', 'false')
})

const load = (lake: string, ...records: readonly object[]) =>
  convert({ from: fromRecords('crm', records), lake, again: true })

/** Two companies, one of them restated by a second run. */
const restatedLake = async (): Promise<string> => {
  const lake = await copyLake('restated', join(await temporaryFolder(), 'lake'))
  // The views of the copy name the files of the first one.
  await writeLakeFiles(lake)
  return lake
}

const inDuckDB = async <T>(use: (session: Session) => Promise<T>): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    return await use(await engine.connect())
  } finally {
    engine.close()
  }
}

const ask = (lake: string, ...statements: readonly string[]): Promise<Row[]> =>
  inDuckDB(async (session) => {
    await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS lake (READ_ONLY); USE lake`)
    for (const one of statements.slice(0, -1)) await session.run(one)
    return session.rows(statements.at(-1) ?? '')
  })

const SALES = 'SELECT internal_id::INTEGER AS id, value FROM financials ORDER BY 1'
const HISTORY =
  'SELECT internal_id::INTEGER AS id, value, snapshot, version::INTEGER AS version, is_current FROM financials_history ORDER BY ALL'
const RESTATED = [
  { id: 1, value: 5, snapshot: 1, version: 1, is_current: false },
  { id: 1, value: 7, snapshot: 2, version: 7, is_current: true },
  { id: 2, value: 6, snapshot: 1, version: 1, is_current: true },
]

test.each([
  ['anew', true],
  ['from the one before', false],
])('lake.duckdb is made %s without a look into the files of rows', async (_how, anew) => {
  vi.stubEnv('FIRMLAKE_DUCKLAKE', 'true')
  const lake = await restatedLake()
  const [folder, away] = [join(lake, 'companies'), join(lake, 'away')]
  if (anew) await rm(join(lake, 'lake.duckdb'))
  await rename(folder, away)
  // lake.ducklake needs the footers of all files when it is made anew.
  await expect(writeLakeFiles(lake)).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  await rename(away, folder)
  expect(await ask(lake, HISTORY)).toEqual(RESTATED)
})

test('each commit leaves a lake.duckdb that shows the newest snapshot, compactions too', async () => {
  const lake = await restatedLake()
  const current = [
    { id: 1, value: 7 },
    { id: 2, value: 6 },
  ]
  expect(await ask(lake, SALES)).toEqual(current)
  expect(await ask(lake, HISTORY)).toEqual(RESTATED)
  expect(await query({ lake, sql: HISTORY })).toEqual(RESTATED)
  await compact({ lake })
  expect(await ask(lake, SALES)).toEqual(current)
  expect(await ask(lake, HISTORY)).toEqual(RESTATED)
})

test('companies and relations that came twice are current in lake.duckdb as in a question', async () => {
  const lake = await sharedLake('deliveries')
  for (const table of ['companies', 'relations', 'roles']) {
    const sql = `SELECT (SELECT count(*) FROM ${table})::INTEGER AS rows, count(DISTINCT version)::INTEGER AS versions FROM ${table}_history`
    const found = await ask(lake, sql)
    expect(found).toEqual(await query({ lake, sql }))
    expect(found[0]?.versions).toBeGreaterThan(3)
  }
})

test('lake.duckdb holds no table, and views name no file', async () => {
  const lake = await restatedLake()
  expect(await ask(lake, "FROM duckdb_tables() WHERE database_name = 'lake'")).toEqual([])
  expect(
    await ask(
      lake,
      "SELECT count(*)::INTEGER AS n FROM duckdb_views() WHERE database_name = 'lake' AND NOT internal AND sql LIKE '%.parquet%'",
    ),
  ).toEqual([{ n: 0 }])
})

test('views as SQL give the same rows, also of an earlier snapshot and of a lake that was moved', async () => {
  const lake = await restatedLake()
  const run = (sql: string, last: string) =>
    inDuckDB(async (session) => {
      await session.run(sql)
      return session.rows(last)
    })
  expect(await run(await viewsSql(lake), HISTORY)).toEqual(RESTATED)
  const first = await viewsSql(lake, 1)
  expect(await run(first, SALES)).toEqual([
    { id: 1, value: 5 },
    { id: 2, value: 6 },
  ])
  expect(first.split(lake)).toHaveLength(2)
  const moved = `${lake}-moved`
  await rename(lake, moved)
  expect(await run(first.replace(lake, moved), SALES)).toHaveLength(2)
  await expect(ask(moved, SALES)).rejects.toThrow('No files found')
  await writeLakeFiles(moved)
  expect(await ask(moved, SALES)).toHaveLength(2)
})

test('verify names a lake.duckdb that is changed, cut or missing; writing it again repairs it', async () => {
  const lake = await restatedLake()
  const file = join(lake, 'lake.duckdb')
  const whole = await readFile(file)
  const flipped = Buffer.from(whole)
  flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 1
  for (const bytes of [flipped, whole.subarray(0, -1), Buffer.alloc(0)]) {
    await writeFile(file, bytes)
    expect((await verify({ lake })).problems).toMatchObject([{ path: 'lake.duckdb', problem: 'changed' }])
  }
  await rm(file)
  expect((await verify({ lake })).problems).toMatchObject([{ path: 'lake.duckdb', problem: 'missing' }])
  await writeFile(`${file}.sha256`, 'x')
  expect((await verify({ lake })).problems).toMatchObject([
    { path: 'lake.duckdb.sha256', problem: 'changed' },
  ])
  expect((await writeLakeFiles(lake)).views).toEqual({ kind: 'written', snapshot: 2 })
  expect((await verify({ lake })).problems).toEqual([])
  expect(await ask(lake, SALES)).toHaveLength(2)
})

test('a file between its two hashes, as a kill leaves it, is no damage', async () => {
  const lake = await restatedLake()
  const record = join(lake, 'lake.duckdb.sha256')
  const [line = ''] = (await readFile(record, 'utf8')).split('\n')
  const lines = `${line.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}\n${line}\n# snapshot 2\n`
  await writeFile(record, `${lines}# ${sha256Of(lines)}\n`)
  expect(await verify({ lake })).toMatchObject({
    problems: [],
    notes: [expect.stringContaining('was not replaced to the end')],
  })
})

test('views of an older snapshot are noted, and the next work on the lake writes them again', async () => {
  const lake = await restatedLake()
  const names = ['lake.duckdb', 'lake.duckdb.sha256'].map((name) => join(lake, name))
  const older = await Promise.all(names.map((name) => readFile(name)))
  const work: readonly (() => Promise<unknown>)[] = [
    () => convert({ from: fromRecords('crm', [firm(9, 9)]), lake }),
    () => removeGarbage({ lake, now: new Date() }),
    () => compact({ lake }),
  ]
  await load(lake, firm(9, 9))
  await compact({ lake })
  const stale = '"lake.duckdb" shows snapshot 2, the newest is 4; "firmlake verify --repair" makes it again'
  for (const one of work) {
    await Promise.all(names.map((name, at) => writeFile(name, older[at] ?? '')))
    expect(await verify({ lake })).toMatchObject({ problems: [], notes: [stale] })
    await one()
    expect(await ask(lake, 'SELECT count(*)::INTEGER AS n FROM companies')).toEqual([{ n: 3 }])
    expect(await verify({ lake })).toMatchObject({ problems: [], notes: [], snapshots: 4 })
  }
})

test('of several commits at once the newest is shown', async () => {
  const lake = await restatedLake()
  await Promise.all([3, 4, 5].map((id) => load(lake, firm(id, id))))
  expect(await ask(lake, 'SELECT count(*)::INTEGER AS n FROM companies')).toEqual([{ n: 5 }])
  expect((await verify({ lake })).problems).toEqual([])
})

test('a commit stands where lake.duckdb cannot be written, and says so', async () => {
  const lake = await restatedLake()
  await rm(join(lake, 'lake.duckdb'))
  await mkdir(join(lake, 'lake.duckdb', 'in the way'), { recursive: true })
  const { snapshot, noViews } = await load(lake, firm(3, 3))
  expect(snapshot).toBe(3)
  expect(noViews).toMatch(/^Cannot write "lake.duckdb" of/)
})

test('above a number of files there is no lake.duckdb, rather than one of an older snapshot', async () => {
  const lake = await restatedLake()
  expect((await writeLakeFiles(lake, { mostFiles: 7 })).views).toEqual({
    kind: 'skipped',
    reason: 'the lake has 8 files, more than 7; "firmlake compact" puts them together',
  })
  await expect(readFile(join(lake, 'lake.duckdb'))).rejects.toMatchObject({ code: 'ENOENT' })
  expect((await verify({ lake })).problems).toEqual([])
})

test("an export and a sink refuse the lake's own lake.duckdb", async () => {
  const lake = await restatedLake()
  const to = join(lake, 'lake.duckdb')
  await expect(exportTables({ lake, to })).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  const sinks = [`duckdb:${join(lake, '..', 'lake', 'lake.duckdb')}`]
  await expect(convert({ from: fromRecords('crm', [firm(9, 9)]), lake, sinks })).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
  })
})

const viewsMade = (env: NodeJS.ProcessEnv): Promise<Buffer> =>
  withDatabases(async (make) => madeViews(make, await keptViews(), env))

test('views are made once, and again where what was kept is damaged or may be of another user', async () => {
  const work = await temporaryFolder()
  const env = { FIRMLAKE_WORK_DIR: work }
  const folder = join(work, 'views')
  const made = await viewsMade(env)
  const [name = ''] = await readdir(folder)
  const file = join(folder, name)
  const kept = await readFile(file)
  const writtenAt = async (): Promise<number> => (await stat(file)).mtimeMs
  const first = await writtenAt()
  expect(await viewsMade(env)).toEqual(made)
  expect(await writtenAt()).toBe(first)
  const flipped = Buffer.from(kept)
  flipped[kept.length - 1] = (flipped[kept.length - 1] ?? 0) ^ 1
  for (const damaged of [flipped, kept.subarray(0, 70)]) {
    await writeFile(file, damaged)
    expect((await viewsMade(env)).length).toBe(made.length)
    expect((await readFile(file)).length).toBe(kept.length)
  }
  await chmod(file, 0o666)
  expect(await viewsMade(env)).not.toEqual(Buffer.alloc(0))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('of databases for lakes with other columns the newest four are kept, each as it was made', async () => {
  const env = { FIRMLAKE_WORK_DIR: await temporaryFolder() }
  const kept = (name: string): Promise<Buffer> =>
    keptDatabase({ name: name.repeat(32), ending: '.duckdb' }, async () => Buffer.from(`of ${name}`), env)
  for (const name of 'abcdef') expect(String(await kept(name))).toBe(`of ${name}`)
  const folder = join(env.FIRMLAKE_WORK_DIR, 'views')
  expect((await readdir(folder)).length).toBe(4)
  expect(await readdir(folder)).toContain(`${'f'.repeat(32)}.duckdb`)
  expect(String(await kept('f'))).toBe('of f')
})

test('a folder that cannot be written costs time only', async () => {
  const file = join(await temporaryFolder(), 'a file')
  await writeFile(file, '')
  expect((await viewsMade({ FIRMLAKE_WORK_DIR: file })).length).toBeGreaterThan(0)
})

test('comments in lake.duckdb say what must not be added', async () => {
  const found = await ask(
    await restatedLake(),
    `SELECT table_name || '.' || column_name AS name, comment FROM duckdb_columns() WHERE database_name = 'lake'
AND (table_name, column_name) IN (('figures', 'value'), ('financials', 'value'), ('financials', 'currency'), ('financials', 'consolidation'), ('owners_current', 'stake'))`,
  )
  expect(found).toHaveLength(5)
  for (const { name, comment } of found)
    expect([name, comment]).toEqual([name, expect.stringMatching(/not add/i)])
})

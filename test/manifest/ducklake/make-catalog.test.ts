/** The rows of a catalog, read without DuckDB's extension. */

import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { forget } from '../../../src/jobs/forget.ts'
import { verify } from '../../../src/jobs/verify.ts'
import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../../../src/lake/tables/columns.ts'
import { boundedColumns } from '../../../src/manifest/ducklake/bounded-columns.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { writeLakeFiles } from '../../../src/manifest/lake-file/lake-file.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { copyLake, firm } from '../../support/lakes.ts'
import { ask, inCatalog, listedDeletes, load, newLake } from './catalog-rows.ts'

beforeEach(() => {
  vi.stubEnv('FIRMLAKE_DUCKDB', 'false')
})

const person = (InternalId: number, owner: number): object => ({
  InternalId,
  Parents: [
    {
      ...{ InternalId: owner, Name: `Person ${owner}`, FirstName: `First ${owner}`, BirthDate: '1970-01-02' },
      ...{ NationalIdentificationNumber: `700102-${owner}`, CountryCode: 'NO', IsCompany: false },
    },
  ],
})

/** Two companies, one of them restated by a second run. */
const restatedLake = async (): Promise<string> => copyLake('restated', await newLake())

const snapshots = async (lake: string): Promise<unknown[]> =>
  (await ask(lake, 'SELECT snapshot_id::INTEGER AS n FROM ducklake_snapshot ORDER BY 1')).map(({ n }) => n)

/** All that stands in the tables of a catalog. */
const textOf = (lake: string): Promise<string> =>
  inCatalog(lake, async (session) => {
    const strings: string[] = []
    for (const { name } of await session.rows(
      "SELECT table_name AS name FROM duckdb_tables() WHERE database_name = 'catalog'",
    ))
      for (const { text } of await session.rows(`SELECT to_json(t)::VARCHAR AS text FROM "${name}" AS t`))
        strings.push(String(text))
    return strings.join('\n')
  })

const DELETED = `SELECT d.begin_snapshot::INTEGER AS snapshot, d.row_id::INTEGER AS position, f.record_count::INTEGER AS rows
FROM ducklake_inlined_delete_10 AS d JOIN ducklake_data_file AS f ON f.data_file_id = d.file_id ORDER BY ALL`

test('a catalog says of each row since when it is superseded, and a file without another row ends', async () => {
  const lake = await restatedLake()
  expect(await ask(lake, DELETED)).toEqual([{ snapshot: 2, position: 0, rows: 2 }])
  await load(lake, firm(2, 8))
  expect(await ask(lake, DELETED)).toEqual([{ snapshot: 2, position: 0, rows: 2 }])
  const ends = `SELECT begin_snapshot::INTEGER AS begins, end_snapshot::INTEGER AS ends, (row_id_start >> 32)::INTEGER AS version
FROM ducklake_data_file WHERE table_id = `
  expect(await ask(lake, `${ends} 10 ORDER BY 1`)).toEqual([
    { begins: 1, ends: 3, version: 1 },
    { begins: 2, ends: null, version: 7 },
    { begins: 3, ends: null, version: 13 },
  ])
  expect((await ask(lake, `${ends} 40 ORDER BY 1`)).map((row) => row.ends)).toEqual([null, null, null])
})

test('bounds are of codes and numbers; no personal field has one, and no value of a person is in a catalog', async () => {
  const bounded = new Set(boundedColumns().map(({ name }) => name))
  const fields = [
    ...COMPANY_COLUMNS,
    ...RELATIONS_COLUMNS,
    ...ENTITY_COLUMNS,
    ...OWNERSHIP_COLUMNS,
    ...ROLE_COLUMNS,
  ]
  const personal = fields.filter(({ field }) => field.personal !== undefined).map(({ name }) => name)
  expect(personal).toContain('national_identification_number')
  const ofCompanies = new Set(['org_no', 'country_code'])
  expect(personal.filter((name) => bounded.has(name) && !ofCompanies.has(name))).toEqual([])
  // Companies have these too, and theirs are no personal data.
  expect(boundedColumns().filter(({ table, name }) => table === 44 && ofCompanies.has(name))).toEqual([])
  const lake = await restatedLake()
  await convert({ from: fromRecords('crm', [person(1, 900)]), lake })
  expect(
    await ask(lake, "SELECT min_value FROM ducklake_file_column_stats WHERE min_value = '900'"),
  ).toHaveLength(2)
  const text = await textOf(lake)
  for (const one of [
    'mail-of-1',
    'Signatory 1',
    'Firm 1',
    'Person 900',
    'First 900',
    '700102-900',
    '1970-01-02',
  ])
    expect([one, text.includes(one)]).toEqual([one, false])
  expect(
    await ask(
      lake,
      `SELECT min_value, max_value, null_count::INTEGER AS nulls FROM ducklake_file_column_stats JOIN ducklake_column USING (table_id, column_id)
WHERE table_id = 10 AND column_name IN ('internal_id', 'org_no', 'country_code') ORDER BY data_file_id, column_order LIMIT 3`,
    ),
  ).toEqual([
    { min_value: '1', max_value: '2', nulls: 0 },
    { min_value: '55-1', max_value: '55-2', nulls: 0 },
    { min_value: 'SE', max_value: 'SE', nulls: 0 },
  ])
})

test('gc takes the snapshots that it removes out of the catalog, with their files and rows', async () => {
  const lake = await restatedLake()
  await compact({ lake })
  await load(lake, firm(2, 9))
  expect(await snapshots(lake)).toEqual([1, 2, 3, 4])
  const removed = await ask(lake, 'SELECT path FROM ducklake_data_file WHERE end_snapshot = 3')
  expect(removed.length).toBeGreaterThan(0)
  await removeGarbage({ lake, now: new Date(), keep: 2 })
  expect(await snapshots(lake)).toEqual([3, 4])
  const text = await textOf(lake)
  for (const { path } of removed) expect(text).not.toContain(String(path))
  expect((await verify({ lake })).problems).toEqual([])
})

test('gc removes files of superseded rows that the catalog names no more, a day later', async () => {
  const lake = await restatedLake()
  await writeLakeFiles(lake, { mostInlined: 0 })
  const folder = join(lake, 'published', 'ducklake')
  const names = await readdir(folder)
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) expect(name).toBe(`${sha256Of(await readFile(join(folder, name)))}.parquet`)
  expect((await verify({ lake })).problems).toEqual([])
  const stray = join(folder, `${'0'.repeat(64)}.parquet`)
  await writeFile(stray, 'x')
  await removeGarbage({ lake, now: new Date() })
  expect(await readdir(folder)).toHaveLength(names.length + 1)
  const dayAgo = new Date(Date.now() - 25 * 3600_000)
  for (const name of await readdir(folder)) await utimes(join(folder, name), dayAgo, dayAgo)
  await removeGarbage({ lake, now: new Date() })
  expect((await readdir(folder)).sort()).toEqual([...names].sort())
  await writeFile(join(folder, names[0] ?? ''), 'damaged')
  expect((await verify({ lake })).problems).toMatchObject([
    { path: `published/ducklake/${names[0]}`, problem: 'changed' },
  ])
})

test('a list of superseded rows that is changed or missing is made again by verify --repair', async () => {
  const lake = await restatedLake()
  await writeLakeFiles(lake, { mostInlined: 0 })
  const [path = ''] = await listedDeletes(lake)
  const whole = await readFile(path)
  for (const damaged of [whole.map((byte) => byte ^ 1), undefined]) {
    await rm(path)
    if (damaged) await writeFile(path, damaged)
    expect((await verify({ lake })).problems).toHaveLength(1)
    await writeLakeFiles(lake, { mostInlined: 0 })
    expect((await verify({ lake })).problems).toEqual([])
    expect(await readFile(path)).toEqual(whole)
  }
})

test('nothing of a company that was forgotten is in the catalog, nor a snapshot from before', async () => {
  const lake = await restatedLake()
  await load(lake, firm(77_777, 1), firm(1, 3))
  expect(await textOf(lake)).toContain('77777')
  await forget({ lake, companies: [77_777] })
  expect(await textOf(lake)).not.toContain('77777')
  expect((await readFile(join(lake, 'lake.ducklake'))).includes('55-77777')).toBe(false)
  expect(await snapshots(lake)).toEqual([4])
  expect((await verify({ lake })).problems).toEqual([])
})

test('a catalog is read-only, is continued where it is whole, and made anew where it is not', async () => {
  const lake = await restatedLake()
  const file = join(lake, 'lake.ducklake')
  expect((await stat(file)).mode & 0o222).toBe(0)
  await chmod(file, 0o644)
  await writeFile(file, 'damaged')
  expect((await verify({ lake })).problems).toMatchObject([{ path: 'lake.ducklake', problem: 'changed' }])
  expect((await load(lake, firm(3, 3))).noViews).toContain('the statistics of all files were read again')
  expect(await snapshots(lake)).toEqual([1, 2, 3])
  expect((await verify({ lake })).problems).toEqual([])
  expect((await load(lake, firm(3, 4))).noViews).toBeUndefined()
})

test('the catalog of another lake, or of a lake that was restored to an earlier state, is not continued', async () => {
  const [lake, other] = [await restatedLake(), await newLake()]
  await load(other, firm(1, 5), firm(2, 6))
  await load(other, firm(1, 7))
  for (const name of ['lake.ducklake', 'lake.ducklake.sha256']) {
    await rm(join(lake, name))
    await writeFile(join(lake, name), await readFile(join(other, name)))
  }
  await load(lake, firm(3, 3))
  const paths = await ask(lake, 'SELECT DISTINCT path FROM ducklake_data_file')
  for (const { path } of paths) expect((await stat(join(lake, String(path)))).isFile()).toBe(true)
  expect((await verify({ lake })).problems).toEqual([])
})

test('a commit stands where lake.ducklake cannot be written, and says so', async () => {
  const lake = await restatedLake()
  await rm(join(lake, 'lake.ducklake'))
  await mkdir(join(lake, 'lake.ducklake', 'in the way'), { recursive: true })
  const { snapshot, noViews } = await load(lake, firm(3, 3))
  expect(snapshot).toBe(3)
  expect(noViews).toMatch(/^Cannot write "lake.ducklake" of/)
})

test('with FIRMLAKE_DUCKLAKE=false or FIRMLAKE_DUCKDB=false a commit leaves that file out, and a later one makes it again', async () => {
  const lake = await restatedLake()
  const files = async (): Promise<readonly string[]> =>
    (await readdir(lake)).filter((name) => name.startsWith('lake.')).sort()
  const skipped = (file: string) => ({ kind: 'skipped', reason: `"${file} = false" leaves it out` })
  expect(await files()).toEqual(['lake.ducklake', 'lake.ducklake.sha256'])
  await expect(writeLakeFiles(lake)).resolves.toMatchObject({ views: skipped('duckdb') })
  vi.stubEnv('FIRMLAKE_DUCKDB', 'true')
  vi.stubEnv('FIRMLAKE_DUCKLAKE', 'false')
  expect(await load(lake, firm(3, 3))).not.toHaveProperty('noViews')
  expect(await files()).toEqual(['lake.duckdb', 'lake.duckdb.sha256'])
  await expect(writeLakeFiles(lake)).resolves.toMatchObject({ catalog: skipped('ducklake') })
  vi.stubEnv('FIRMLAKE_DUCKLAKE', 'true')
  vi.stubEnv('FIRMLAKE_DUCKDB', 'false')
  expect(await load(lake, firm(4, 4))).not.toHaveProperty('noViews')
  expect(await files()).toEqual(['lake.ducklake', 'lake.ducklake.sha256'])
  vi.stubEnv('FIRMLAKE_DUCKDB', 'true')
  await load(lake, firm(5, 5))
  expect(await files()).toHaveLength(4)
  expect(await snapshots(lake)).toEqual([1, 2, 3, 4, 5])
})

test('comments say what must not be added: of columns of tables, and of views, whose columns have none', async () => {
  const lake = await restatedLake()
  const ofColumns = await ask(
    lake,
    `SELECT column_name AS name, t.value AS text FROM ducklake_column AS c JOIN ducklake_column_tag AS t USING (table_id, column_id)
JOIN ducklake_table AS o USING (table_id) WHERE table_name = 'financials' AND t.key = 'comment' ORDER BY 1`,
  )
  const textOn = (name: string): unknown => ofColumns.find((one) => one.name === name)?.text
  for (const name of ['value', 'currency', 'consolidation'])
    expect([name, textOn(name)]).toEqual([name, expect.stringMatching(/not add/i)])
  const views = await ask(
    lake,
    `SELECT view_name AS name, t.value AS text FROM ducklake_view JOIN ducklake_tag AS t ON t.object_id = view_id
WHERE view_name IN ('figures', 'owners_current') AND t.key = 'comment' ORDER BY 1`,
  )
  expect(views).toEqual([
    {
      name: 'figures',
      text: expect.stringContaining('value: the figure, in the unit of its line item; do not add'),
    },
    { name: 'owners_current', text: expect.stringMatching(/stake: [^:]*several kinds.* do not add up/) },
  ])
})

import { createHmac } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Row } from '../../src/lake/duckdb/engine.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { stringsBelow } from '../support/all-bytes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ANY = { maxQuarantined: { kind: 'share', share: 1 } } as const
const [PERSON, EMAIL, OWNER, OTHER] = ['person', 'email', 'owner', 'other-company'].map(
  (name) => `mark-of-${name}-${'x'.repeat(20)}`,
)

let bench: Bench
let lakeFolder: string
beforeAll(async () => {
  lakeFolder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  bench = openBench(lakeFolder)
  const company = (id: number, country: string, name: string | undefined) =>
    JSON.stringify({
      BasicDetails: { InternalId: id, CompanyName: name, CountryCode: country, Email: EMAIL },
      Financials: { ProfitAndLoss: { NetSales: { 2023: id } } },
    })
  await bench.write('in/companies.jsonl', [company(1, 'NO', 'First'), company(2, 'SE', OTHER)])
  const parents = [
    { InternalId: 8, IsCompany: false, Name: PERSON, BirthDate: '1970-01-01' },
    { InternalId: 9, IsCompany: true, Name: OWNER },
  ]
  const record = { InternalId: 1, CountryCode: 'NO', Parents: parents }
  await bench.write('in/relations.jsonl', [JSON.stringify(record)])
  await bench.run(['in'], ANY)
})

afterAll(() => rm(lakeFolder, { recursive: true, force: true }))

const rowsOfFile = async (file: string, sql: string): Promise<readonly Row[]> => {
  const engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${file}' AS firms (READ_ONLY)`)
    await session.run('USE firms')
    return await session.rows(sql)
  } finally {
    engine.close()
  }
}

const MARKS = [PERSON, EMAIL, OWNER, OTHER].map(String)
const TAKE = { countries: ['NO'], leaveOut: ['persons', 'financials'] }

test('an export has no byte of what is left out, and says so by its columns', async () => {
  const folder = await temporaryFolder()
  const { tables } = await exportTables({ lake: bench.lake, to: `parquet:${folder}/out`, take: TAKE })
  expect(tables.map(({ table }) => table)).not.toContain('financials')
  expect(await stringsBelow(folder, MARKS)).toEqual([OWNER])
  await exportTables({ lake: bench.lake, to: `csv:${folder}/csv`, take: TAKE, tables: ['companies'] })
  const [header, ...rows] = (await readFile(join(folder, 'csv/companies.csv'), 'utf8')).trim().split(/\r?\n/)
  expect(header?.split(',')).not.toContain('email')
  expect(header?.split(',')).toContain('company_name')
  expect(rows).toHaveLength(1)
})

test('an export of all versions has those of records that are taken', async () => {
  const folder = await temporaryFolder()
  const where = "company_name = 'First'"
  const { tables } = await exportTables({
    lake: bench.lake,
    to: `parquet:${folder}`,
    take: { where },
    history: true,
  })
  const rows = Object.fromEntries(tables.map(({ table, rows: count }) => [table, count]))
  expect(rows).toMatchObject({ companies_history: 1, financials_history: 1, relations_history: 1 })
})

test('an export computes further columns of what it writes: a masked value is in none of them', async () => {
  const folder = await temporaryFolder()
  const compute = { 'relation_entities.birth_year': 'left(birth_date, 4)::INTEGER' }
  const asked = { lake: bench.lake, to: `csv:${folder}`, tables: ['relation_entities'], compute }
  await exportTables(asked)
  expect(await readFile(join(folder, 'relation_entities.csv'), 'utf8')).toMatch(/,birth_year\r?\n/)
  await expect(exportTables({ ...asked, take: { leaveOut: ['persons'] } })).rejects.toThrow(
    'it reads "birth_date", which is left out',
  )
  const copies = { 'companies.copy': 'upper(email)', 'companies.whole': 'companies::VARCHAR' }
  const take = { mask: { 'companies.email': 'hidden' }, compute: copies }
  await exportTables({ lake: bench.lake, to: `csv:${folder}/masked`, tables: ['companies'], take })
  const text = await readFile(join(folder, 'masked/companies.csv'), 'utf8')
  expect(text).toContain('HIDDEN')
  expect(text.toLowerCase()).not.toContain(String(EMAIL))
})

const COMPUTE = { 'companies.letters': 'length(company_name)', 'companies.copy': 'email' }
const ofSink = { leaveOut: ['financials'], mask: { 'companies.email': 'hidden' }, compute: COMPUTE }

test('a sink receives columns computed for it of what it receives, and notes what it was', async () => {
  const folder = await temporaryFolder()
  const sinks = [`csv:${folder}/csv`, `parquet:${folder}/parquet`, `${folder}/firms.duckdb`]
  await deliver({ lake: bench.lake, sinks, take: ofSink })
  expect(await stringsBelow(folder, MARKS)).toEqual([PERSON, OWNER, OTHER])
  const [run = ''] = await readdir(join(folder, 'csv/_loaded'))
  expect(await readFile(join(folder, 'csv/_loaded', run), 'utf8')).toBe(
    'csv\nthis target: left out: financials; masked: companies.email; computed: companies.copy = email, companies.letters = length(company_name)\n',
  )
  const ask = async (sql: string) => rowsOfFile(join(folder, 'firms.duckdb'), sql)
  expect(await ask('SELECT letters, copy FROM companies ORDER BY internal_id')).toEqual([
    { letters: '5', copy: 'hidden' },
    { letters: String(OTHER?.length), copy: 'hidden' },
  ])
  expect(
    await ask("SELECT taken LIKE 'this target: left out: financials;%' AS noted FROM firmlake_loads"),
  ).toEqual([{ noted: true }])
  // A dictionary of figures that are not there.
  expect(
    await ask("SELECT table_name FROM duckdb_tables() WHERE table_name IN ('line_items', 'financials')"),
  ).toEqual([])
  expect(await deliver({ lake: bench.lake, sinks, take: ofSink })).toMatchObject([
    { runs: [] },
    { runs: [] },
    { runs: [] },
  ])
})

test('a value that cannot be computed for a sink stops the delivery, without a word of it', async () => {
  const folder = await temporaryFolder()
  const take = { compute: { 'companies.number': 'company_name::INTEGER' } }
  const failed = deliver({ lake: bench.lake, sinks: [`parquet:${folder}/out`], take })
  await expect(failed).rejects.toMatchObject({ code: 'PROJECTION_INVALID' })
  const text = await failed.catch(String)
  expect(text).toContain('Cannot compute companies.number for a sink: it fails on a value')
  expect(text).not.toContain('First')
  expect(await readdir(join(folder, 'out')).catch(() => [])).not.toContain('companies')
})

test('a DuckDB file refuses a computed column of another type', async () => {
  const folder = await temporaryFolder()
  const own = openBench(folder)
  const sinks = [`${folder}/firms.duckdb`]
  await own.write('1/companies.jsonl', [companyLine(1)])
  await own.run(['1'], ANY)
  await deliver({ lake: own.lake, sinks, take: { compute: { 'companies.x': 'internal_id' } } })
  await own.write('2/companies.jsonl', [companyLine(2)])
  await own.run(['2'], ANY)
  const other = deliver({ lake: own.lake, sinks, take: { compute: { 'companies.x': 'company_name' } } })
  await expect(other).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  await expect(other).rejects.toThrow('Cannot load column "x" into table "companies": it is of type BIGINT')
})

test.each([
  ['a table that is not there', { compute: { 'firms.x': '1' } }, 'there is no table "firms" of records'],
  ['a column that is there', { compute: { 'companies.email': '1' } }, 'has such a column'],
  ['another query', { compute: { 'companies.x': '(SELECT 1)' } }, 'a query of its own'],
  ['everything', { tables: ['roles'], take: { leaveOut: ['roles'] } }, 'every table that was asked for'],
  ['an answer', { sql: 'SELECT 1', take: { leaveOut: ['persons'] } }, 'write the statement so'],
  ['names beside ids', { names: true, take: { leaveOut: ['persons'] } }, '--names'],
])('an export refuses to leave out or compute %s', async (_, asked, said) => {
  const folder = await temporaryFolder()
  await expect(exportTables({ lake: bench.lake, to: `csv:${folder}`, ...asked })).rejects.toThrow(said)
})

test('a sink receives what is declared for it, with all columns', async () => {
  const folder = await temporaryFolder()
  await deliver({
    lake: bench.lake,
    sinks: [`parquet:${folder}/files`, `${folder}/firms.duckdb`],
    take: TAKE,
  })
  expect(await stringsBelow(folder, MARKS)).toEqual([OWNER])
})

test('a sink receives hashes of the key that is given', async () => {
  const folder = await temporaryFolder()
  const hashKey = 'a key of more than sixteen bytes'
  const take = { hash: ['companies.email'] }
  await deliver({ lake: bench.lake, sinks: [`jsonl:${folder}`], take, hashKey })
  const hash = createHmac('sha256', hashKey).update(String(EMAIL)).digest('hex')
  expect(await stringsBelow(folder, [...MARKS, hash])).toEqual([PERSON, OWNER, OTHER, hash])
})

test('a sink that cannot be fed so is refused before anything is delivered', async () => {
  const folder = await temporaryFolder()
  const sinks = [`parquet:${folder}`]
  await expect(
    deliver({ lake: bench.lake, sinks, take: { hash: ['companies.email'] } }),
  ).rejects.toMatchObject({
    code: 'HASH_KEY_WRONG',
  })
})

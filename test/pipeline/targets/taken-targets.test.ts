import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportTables } from '../../../src/pipeline/export/export-tables.ts'
import { deliver } from '../../../src/pipeline/targets/deliver.ts'
import { textsBelow } from '../../support/all-bytes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Bench, openBench } from '../batch-bench.ts'

const ANY = { limit: { kind: 'share', share: 1 } } as const
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

const MARKS = [PERSON, EMAIL, OWNER, OTHER].map(String)
const TAKE = { countries: ['NO'], leaveOut: ['persons', 'financials'] }

test('an export has no byte of what is left out, and says so by its columns', async () => {
  const folder = await temporaryFolder()
  const { tables } = await exportTables({ lake: bench.lake, to: `parquet:${folder}/out`, take: TAKE })
  expect(tables.map(({ table }) => table)).not.toContain('financials')
  expect(await textsBelow(folder, MARKS)).toEqual([OWNER])
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

test('an export computes further columns, of what is left out too', async () => {
  const folder = await temporaryFolder()
  await exportTables({
    ...{
      lake: bench.lake,
      to: `csv:${folder}`,
      tables: ['relation_entities'],
      take: { leaveOut: ['persons'] },
    },
    compute: { 'relation_entities.birth_year': 'left(birth_date, 4)::INTEGER' },
  })
  const text = await readFile(join(folder, 'relation_entities.csv'), 'utf8')
  expect(text).toContain('1970')
  expect(text).not.toContain('1970-01-01')
})

test.each([
  ['a table that is not there', { compute: { 'firms.x': '1' } }, 'expected table.column'],
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
  expect(await textsBelow(folder, MARKS)).toEqual([OWNER])
})

test('a sink receives hashes of the key that is given', async () => {
  const folder = await temporaryFolder()
  const hashKey = 'a key of more than sixteen bytes'
  const take = { hash: ['companies.email'] }
  await deliver({ lake: bench.lake, sinks: [`jsonl:${folder}`], take, hashKey })
  const hash = createHmac('sha256', hashKey).update(String(EMAIL)).digest('hex')
  expect(await textsBelow(folder, [...MARKS, hash])).toEqual([PERSON, OWNER, OTHER, hash])
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

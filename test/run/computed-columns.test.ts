import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { query } from '../../src/jobs/query.ts'
import { recordLines } from '../../src/jobs/records.ts'
import { viewsSql } from '../../src/jobs/views.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { isFailedValue } from '../../src/lake/projection/computed-columns.ts'
import { lackingProjections } from '../../src/manifest/form/projections.ts'
import { writeLakeFiles } from '../../src/manifest/lake-file/lake-file.ts'
import { readRoot, rootIfAny } from '../../src/manifest/snapshots/snapshots.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { stringsBelow } from '../support/all-bytes.ts'
import { benchCopies } from '../support/bench-copies.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, companyLine, openBench, relationsLine } from './batch-bench.ts'

const EMAIL = `mark-of-email-${'x'.repeat(20)}`
const TAKE = {
  compute: {
    'companies.number': "replace(company_name, 'Company ', '')::INTEGER",
    'companies.copy': 'upper(email)',
    'financials.millions': 'value / 1e6',
    'relation_entities.initial': 'left(name, 1)',
  },
}

const writeBatches = async (one: Bench): Promise<void> => {
  const email = { BasicDetails: { InternalId: 2, CompanyName: 'Company 2', Email: EMAIL } }
  await one.write('1/companies.jsonl', [companyLine(1), companyLine(2, email)])
  await one.write('1/relations.jsonl', [relationsLine(1)])
  await one.write('2/companies.jsonl', [companyLine(1, {}, 2), companyLine(3)])
}
/** The same of which the first is loaded, with the columns that its lake computes. */
const computed = benchCopies(async (one) => {
  await writeBatches(one)
  await one.run(['1'], { take: TAKE })
})

let bench: Bench
beforeEach(async () => {
  // Where a test does not read it, a commit need not write it.
  vi.stubEnv('FIRMLAKE_DUCKDB', 'false')
  bench = openBench(await temporaryFolder())
  await writeBatches(bench)
})

const ask = (sql: string, snapshot?: number) => query({ lake: bench.lake, sql, snapshot })

/** What any DuckDB reads of the lake by its own views. */
const asked = async (views: readonly string[], sql: string): Promise<readonly unknown[]> => {
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    for (const statement of views) await session.run(statement)
    return await session.rows(sql)
  } finally {
    engine.close()
  }
}
const inLakeFile = async (sql: string): Promise<readonly unknown[]> =>
  asked([`ATTACH '${join(bench.lake, 'lake.duckdb')}' AS lake (READ_ONLY)`, 'USE lake'], sql)

const NUMBERS = 'SELECT internal_id::INTEGER AS id, number FROM companies ORDER BY 1'
const numbers = (...ids: readonly number[]) => ids.map((id) => ({ id, number: id }))

test('every view computes the columns that a lake declares, and no file holds them', async () => {
  bench = await computed()
  await bench.run(['2'])
  expect(await ask(NUMBERS)).toEqual(numbers(1, 2, 3))
  const history = 'SELECT is_current, number FROM companies_history WHERE internal_id = 1 ORDER BY version'
  expect(await ask(history)).toEqual([
    { is_current: false, number: 1 },
    { is_current: true, number: 1 },
  ])
  expect(await ask('SELECT count(number) AS n FROM companies_all')).toEqual([{ n: 3 }])
  expect(await ask('SELECT max(millions) AS m FROM financials')).toEqual([{ m: 3.5e-6 }])
  expect(await ask('SELECT initial FROM relation_entities')).toEqual([{ initial: 'C' }])
  vi.stubEnv('FIRMLAKE_DUCKDB', 'true')
  await writeLakeFiles(bench.lake)
  expect(await inLakeFile(NUMBERS)).toEqual(numbers(1, 2, 3))
  expect(await asked([await viewsSql(bench.lake)], NUMBERS)).toEqual(numbers(1, 2, 3))
  expect(await stringsBelow(bench.lake, [EMAIL, EMAIL.toUpperCase()])).toEqual([EMAIL])
  expect(lackingProjections(await readRoot(bench.lake))).toEqual([])
})

test('they stand as what is loaded does, through a compaction and what is forgotten', async () => {
  bench = await computed()
  await bench.run(['2'])
  await forget({ lake: bench.lake, companies: [3] })
  vi.stubEnv('FIRMLAKE_DUCKDB', 'true')
  await compact({ lake: bench.lake })
  expect(await ask(NUMBERS)).toEqual(numbers(1, 2))
  expect(await inLakeFile(NUMBERS)).toEqual(numbers(1, 2))
  expect((await bench.verify()).problems).toEqual([])
})

test('rows that were loaded before have them too, and NULL where a value cannot be computed', async () => {
  await bench.write('0/companies.jsonl', [
    JSON.stringify({ BasicDetails: { InternalId: 9, CompanyName: 'Nine' } }),
  ])
  await bench.run(['0'])
  await expect(bench.run(['1'], { take: TAKE })).rejects.toMatchObject({ code: 'PROJECTION_CHANGED' })
  await bench.run(['1'], { take: TAKE, changeTaken: true })
  expect(await ask(NUMBERS)).toEqual([...numbers(1, 2), { id: 9, number: null }])
  await expect(ask(NUMBERS, 1)).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  await bench.run(['2'], { changeTaken: true })
  await expect(ask(NUMBERS)).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  vi.stubEnv('FIRMLAKE_DUCKDB', 'true')
  await writeLakeFiles(bench.lake)
  await expect(inLakeFile(NUMBERS)).rejects.toThrow('number')
})

test('a value that cannot be computed stops the load before anything is shown, without a word of it', async () => {
  const take = { compute: { 'companies.wrong': 'company_name::INTEGER' } }
  const failed = bench.run(['1'], { take })
  await expect(failed).rejects.toMatchObject({ code: 'PROJECTION_INVALID' })
  const text = String(await failed.catch((error: unknown) => error))
  expect(text).toContain(
    'the computed column "companies.wrong", "company_name::INTEGER": it fails on a value',
  )
  expect(text).not.toContain('Company 1')
  expect(await rootIfAny(bench.lake)).toBeNull()
})

test('a condition that fails on a value stops the load and says so, without a word of it', async () => {
  const failed = bench.run(['1'], { take: { where: 'company_name::INTEGER = 1' } })
  await expect(failed).rejects.toMatchObject({ code: 'PROJECTION_INVALID' })
  const text = String(await failed.catch((error: unknown) => error))
  expect(text).toContain('Cannot apply the condition on companies: it fails on a value')
  expect(text).not.toContain('Company 1')
  expect(await rootIfAny(bench.lake)).toBeNull()
})

test.each([
  ['Conversion Error: Could not convert string', true],
  ['Out of Range Error: Overflow', true],
  ['Out of Memory Error: could not allocate block', false],
  ['INTERRUPT Error: Interrupted!', false],
  ['IO Error: No space left on device', false],
])('of DuckDB\'s "%s" a value is the cause: %s', (message, isOfValue) => {
  expect(isFailedValue(new Error(message))).toBe(isOfValue)
})

test('they are computed of what is taken: a masked value is in none of them', async () => {
  const take = { ...TAKE, mask: { 'companies.email': 'hidden' } }
  await bench.run(['1'], { take })
  expect(await ask('SELECT copy FROM companies ORDER BY internal_id')).toEqual([
    { copy: null },
    { copy: 'HIDDEN' },
  ])
  expect(await stringsBelow(bench.lake, [EMAIL, EMAIL.toUpperCase()])).toEqual([])
})

test('a target that hides a column has the columns of the lake computed of what it shows', async () => {
  bench = await computed()
  const to = join(bench.folder, 'to')
  const take = { mask: { 'companies.email': 'hidden' } }
  await deliver({ lake: bench.lake, sinks: [`jsonl:${to}/sink`], take })
  await exportTables({ lake: bench.lake, to: `jsonl:${to}/export`, take, history: true })
  const marks = [EMAIL, EMAIL.toUpperCase(), '"copy":"HIDDEN"', '"number":2']
  for (const kind of ['sink', 'export'])
    expect(await stringsBelow(join(to, kind), marks)).toEqual(marks.slice(2))
})

test('an export with names beside ids has them too', async () => {
  bench = await computed()
  const to = join(bench.folder, 'figures.csv')
  await exportTables({ lake: bench.lake, to, tables: ['financials'], names: true })
  const [header, row] = (await readFile(to, 'utf8')).split(/\r?\n/)
  expect(header?.split(',').slice(0, 2)).toEqual(['internal_id', 'company_name'])
  expect(header?.split(',').at(-1)).toBe('millions')
  expect(row).toMatch(/^1,Company 1,/)
})

test('records are what came: computed columns are not of the service', async () => {
  await bench.run(['1'])
  const linesOf = async (): Promise<readonly string[]> => {
    const lines: string[] = []
    for await (const line of recordLines({ lake: bench.lake, content: 'companies' })) lines.push(String(line))
    return lines.sort()
  }
  const before = await linesOf()
  await bench.run(['1'], { take: TAKE, changeTaken: true, again: true })
  expect(await linesOf()).toEqual(before)
})

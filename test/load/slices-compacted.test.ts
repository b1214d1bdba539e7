import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { prepareRestore, type SliceRows, slicesOf, sliceView } from '../../src/lake/slices/slices.ts'
import { type Bench, companyLine, openBench, relationsLine } from '../run/batch-bench.ts'

const MANY = 900
const LATE = 40
const COUNTRIES = ['SE', 'NO', undefined, 'DK', "L'x"]

/** Countries take turns; the first ones have many more figures than the others. */
const line = (id: number): string => {
  const country = COUNTRIES[id % COUNTRIES.length]
  const years = Object.fromEntries(
    Array.from({ length: id % 5 < 2 ? 20 : 1 }, (_, at) => [String(2000 + at), id * at]),
  )
  return companyLine(id, {
    BasicDetails: {
      InternalId: id,
      CompanyName: `Company ${(id * 7919) % 1009}`,
      ...(country && { CountryCode: country }),
    },
    EnhancedDetails: { Employees: { 2024: id } },
    Financials: { ProfitAndLoss: { NetSales: years } },
  })
}

let one: Bench
/** A compacted lake of many small files, and a load after it that supersedes some of its records. */
beforeAll(async () => {
  one = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  const ids = Array.from({ length: MANY }, (_, at) => at - 100)
  await one.write('companies', ids.map(line))
  await one.write('relations', ids.map(relationsLine))
  await one.run(['companies', 'relations'])
  await compact({ lake: one.lake, targetBytes: 6 * 1024 })
  await one.write('late', ids.slice(0, LATE).map(line))
  await one.run(['late'])
}, 240_000)
afterAll(() => rm(one.folder, { recursive: true, force: true }))

const inSession = async <T>(use: (session: Session) => Promise<T>): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await prepareRestore({ session, lake: one.lake, snapshot: await one.snapshot() })
    return await use(session)
  } finally {
    engine.close()
  }
}

/** Of each slice: its rows by table, and how many rows of its tables belong to no record of it. */
const walk = (content: 'companies' | 'relations', most: SliceRows, ids?: readonly bigint[]) =>
  inSession(async (session) => {
    const request = { session, lake: one.lake, snapshot: await one.snapshot(), ids }
    const [tables, owner] =
      content === 'companies'
        ? ([['companies', 'financials', 'employees'], 'internal_id'] as const)
        : ([['relations', 'relation_entities'], 'company_id'] as const)
    const slices: Record<string, number>[] = []
    for await (const _ of slicesOf(request, content, most)) {
      const counts: Record<string, number> = {}
      for (const [at, table] of tables.entries()) {
        const column = at === 0 ? 'internal_id' : owner
        const [row] = await session.rows(
          `SELECT count(*)::INTEGER AS rows, count(*) FILTER (${column} NOT IN (SELECT internal_id FROM ${sliceView(content)}))::INTEGER AS strange FROM ${sliceView(table)}`,
        )
        counts[table] = Number(row?.rows)
        counts.strange = (counts.strange ?? 0) + Number(row?.strange)
      }
      slices.push(counts)
    }
    return slices
  })

const sumOf = (slices: readonly Record<string, number>[], name: string): number =>
  slices.reduce((sum, slice) => sum + (slice[name] ?? 0), 0)

test('slicesOf cuts a compacted partition into whole records, none twice and none left out', async () => {
  expect((await one.snapshot()).partitions[0]?.files.length).toBeGreaterThan(15)
  const slices = await walk('companies', { companies: 37, financials: 10_000 })
  const figures = await one.query('SELECT count(*)::INTEGER FROM financials')
  expect([sumOf(slices, 'companies'), sumOf(slices, 'employees'), sumOf(slices, 'strange')]).toEqual([
    MANY,
    MANY,
    0,
  ])
  expect([[sumOf(slices, 'financials')]]).toEqual(figures)
}, 240_000)

test('slicesOf holds few enough figures in each slice of a compacted partition, though some countries have more', async () => {
  const slices = await walk('companies', { companies: 10_000, financials: 640 })
  expect(slices.length).toBeGreaterThan(8)
  expect(slices.length).toBeLessThan(20)
  expect(Math.max(...slices.map(({ financials = 0 }) => financials))).toBeLessThan(640 * 1.2)
}, 240_000)

test('slicesOf cuts compacted relations by company, in the order of ids', async () => {
  const slices = await walk('relations', { relations: 100, relation_entities: 200 })
  expect([sumOf(slices, 'relations'), sumOf(slices, 'relation_entities'), sumOf(slices, 'strange')]).toEqual([
    MANY,
    MANY,
    0,
  ])
  expect(slices.length).toBeGreaterThan(6)
  expect(Math.max(...slices.map(({ relations = 0 }) => relations))).toBeLessThan(150)
}, 240_000)

test('slicesOf finds single ids of a compacted partition, also without a country and superseded', async () => {
  // 7 and 2 have no country, 5 is of SE, -100 was loaded again, 9999 is nowhere.
  const slices = await walk('companies', {}, [7n, 2n, 5n, -100n, 9999n])
  expect(sumOf(slices, 'companies')).toBe(4)
  expect(sumOf(slices, 'employees')).toBe(4)
  const [single] = await walk('companies', {}, [500n])
  expect(single).toEqual({ companies: 1, financials: 20, employees: 1, strange: 0 })
  expect(sumOf(await walk('relations', {}, [7n, -100n, 9999n]), 'relations')).toBe(2)
}, 240_000)

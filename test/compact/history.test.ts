/** The history of a lake and of its `lake.duckdb` through compactions, loads between them and late files, against what the deliveries say. */

import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { readStatus } from '../../src/jobs/lake-status.ts'
import { query as ask } from '../../src/jobs/query.ts'
import type { Bench } from '../run/batch-bench.ts'
import {
  allExpected,
  compacted,
  type Delivery,
  expected,
  found,
  inLakeFile,
  load,
  newBench,
  one,
  type Said,
  TABLES,
  withLoads,
} from './deliveries.ts'

/** Figures that change and change back, a name and a country, owners that come and go, a company that comes later. */
const FIRST: readonly Delivery[] = [
  {
    day: 1,
    said: {
      1: one(1, { owners: { Ann: 40, Bo: 60 } }),
      2: one(20),
      3: one(30, { name: 'Three' }),
    },
  },
  {
    day: 4,
    said: {
      1: one(2, { owners: { Ann: 40, Bo: 55, Cy: 5 } }),
      2: one(20),
      3: one(30, { name: 'Third', country: 'NO' }),
    },
  },
  {
    day: 6,
    said: { 1: one(1, { owners: { Bo: 55, Cy: 5 } }), 2: one(20), 4: one(40) },
  },
]
/** Of days between those of the first ones: a figure that was otherwise, one that was the same, and a company that nobody else tells of. */
const LATE: Delivery = { day: 5, said: { 1: one(9), 2: one(20), 3: one(33, { name: 'Third' }), 5: one(50) } }
const LATER: readonly Delivery[] = [
  {
    day: 8,
    said: { 1: one(1, { owners: { Bo: 55 } }), 2: one(21), 3: one(30, { name: 'Third', country: 'NO' }) },
  },
  { day: 3, said: { 2: one(22), 4: one(41), 1: one(1, { owners: { Ann: 40, Bo: 60 } }) } },
]

test('the history through compactions and late files is what the deliveries say, equal neighbours as one row', async () => {
  const bench = await newBench()
  const { lake, query } = bench
  const told: Delivery[] = []
  const add = async (...more: readonly Delivery[]): Promise<void> => {
    for (const delivery of more) await load(bench, delivery)
    told.push(...more)
  }
  await add(...FIRST)
  expect(await found(query)).toEqual(allExpected(told))
  await compacted(bench)
  expect(await found(query, TABLES, true)).toEqual(allExpected(told))
  await add(LATE)
  expect(await found(query)).toEqual(allExpected(told))
  expect(await inLakeFile(lake, found)).toEqual(allExpected(told))
  await add(...LATER)
  expect(await found(query)).toEqual(allExpected(told))
  await compacted(bench)
  expect(await found(query, TABLES, true)).toEqual(allExpected(told))
  expect(await inLakeFile(lake, (ask) => found(ask, TABLES, true))).toEqual(allExpected(told))
  expect((await bench.verify()).problems).toEqual([])
})

test('rows of a history go on to be of the loads that brought them', async () => {
  const bench = await newBench()
  for (const delivery of FIRST) await load(bench, delivery)
  const loads = (): ReturnType<Bench['query']> =>
    bench.query(
      'SELECT DISTINCT as_of, run, snapshot, loaded_at, version FROM companies_history ORDER BY as_of',
    )
  const before = await loads()
  expect(before).toHaveLength(3)
  await compacted(bench)
  expect(await loads()).toEqual(before)
})

test('a compaction in pieces gives the same history', async () => {
  const bench = await newBench()
  const KIB = 1024
  const small = { targetBytes: 2 * KIB, localBytes: 2 * 2 * KIB + 524 * KIB }
  for (const delivery of FIRST) await load(bench, delivery)
  await compacted(bench, small)
  for (const delivery of [LATE, ...LATER]) await load(bench, delivery)
  await compacted(bench, small)
  const told = [...FIRST, LATE, ...LATER]
  expect(await found(bench.query, TABLES, true)).toEqual(allExpected(told))
})

test('a company that leaves and comes back has the time between in no row', async () => {
  await withLoads(async (bench, loaded) => {
    const told: Delivery[] = []
    const pulled = async (delivery: Delivery & Required<Pick<Delivery, 'lacking'>>): Promise<void> => {
      await loaded(delivery)
      told.push(delivery)
    }
    const only = (value: number): Said => ({ name: 'One', sales: { 2023: value } })
    const expectAll = async (): Promise<void> =>
      expect((await found(bench.query, ['companies'])).companies).toEqual(expected(told, 'companies'))
    await pulled({ day: 1, said: { 1: only(1), 2: only(2) }, lacking: [] })
    await pulled({ day: 3, said: { 2: only(2) }, lacking: [1] })
    await compacted(bench)
    await expectAll()
    expect(await bench.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[2]])
    expect(await bench.query('SELECT internal_id FROM companies_all ORDER BY 1')).toEqual([[1], [2]])
    await pulled({ day: 5, said: { 1: only(1), 2: only(2) }, lacking: [] })
    await expectAll()
    await compacted(bench)
    await expectAll()
    await pulled({ day: 7, said: { 1: only(1) }, lacking: [2] })
    await compacted(bench)
    await expectAll()
    expect((await bench.verify()).problems).toEqual([])
  })
})

test('a version between two listings without its company is restated once by each neighbour', async () => {
  await withLoads(async (bench, loaded) => {
    const only = (value: number): Said => ({ name: 'One', sales: { 2023: value } })
    await loaded({ day: 1, said: { 1: only(1), 2: only(2) } })
    await loaded({ day: 10, said: { 2: only(2) }, lacking: [1] })
    await loaded({ day: 20, said: { 2: only(2) }, lacking: [1] })
    await loaded({ day: 15, said: { 1: only(2) } })
    await loaded({ day: 25, said: { 1: only(3) } })
    const expectBoth = async (): Promise<void> =>
      expect(
        await bench.query('SELECT old_value, new_value FROM restatements WHERE internal_id = 1 ORDER BY ALL'),
      ).toEqual([
        [1, 2],
        [2, 3],
      ])
    await expectBoth()
    await compacted(bench)
    await expectBoth()
  })
})

test('--keep-history drops past rows whose end became known before, --drop-history all; current rows keep their first version', async () => {
  const bench = await newBench()
  const [first, second, third] = FIRST as [Delivery, Delivery, Delivery]
  const past = async (): Promise<Readonly<Record<string, number>>> => {
    const { tables } = (await readStatus(bench.lake)).summary ?? { tables: [] }
    return Object.fromEntries(
      tables.flatMap(({ table, rows }) => (/_past$/.test(table) ? [[table, rows]] : [])),
    )
  }
  const begins = () =>
    ask({
      lake: bench.lake,
      sql: "SELECT loaded_at::VARCHAR AS since FROM history_begins WHERE content = 'companies'",
    })
  const versions = () =>
    bench.query(
      "SELECT internal_id, strftime(as_of, '%d') FROM companies_history WHERE is_current ORDER BY 1",
    )
  await load(bench, first)
  await load(bench, second)
  const whole = await begins()
  await compacted(bench)
  // Company 1 had another figure, company 3 two of another country and another name.
  expect(await past()).toMatchObject({ companies_past: 1, financials_past: 3 })
  expect(await begins()).toEqual(whole)
  const between = Date.now()
  await load(bench, third)
  const firsts = [
    [1, '01'],
    [2, '01'],
    [3, '04'],
    [4, '06'],
  ]
  const kept = await compact({
    lake: bench.lake,
    keepHistoryMs: 3_600_000,
    now: () => new Date(between + 3_600_000),
  })
  expect(kept).toMatchObject({ kind: 'compacted', pastSince: expect.any(String) })
  expect(await past()).toMatchObject({ financials_past: 1 })
  expect(Object.keys(await past())).not.toContain('companies_past')
  expect(await begins()).not.toEqual(whole)
  expect(await versions()).toEqual(firsts)
  expect((await compact({ lake: bench.lake, keepHistoryMs: 3_600_000 })).kind).toBe('nothing')
  expect((await compact({ lake: bench.lake, dropHistory: true })).kind).toBe('compacted')
  expect(await past()).toEqual({})
  expect(await versions()).toEqual(firsts)
  expect((await compact({ lake: bench.lake, dropHistory: true })).kind).toBe('nothing')
  expect((await bench.verify()).problems).toEqual([])
})

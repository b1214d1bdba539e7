/** The history of a lake through compactions, loads between them and late files, against what the deliveries say. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../../src/jobs/compact/compact.ts'
import { pull } from '../../../src/jobs/pull/pull.ts'
import { query as ask } from '../../../src/jobs/query/query.ts'
import { readStatus } from '../../../src/jobs/status/lake-status.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { refreshLakeFiles } from '../../../src/manifest/lake-file/lake-file.ts'
import type { CompactOptions } from '../../../src/options/interfaces.ts'
import { createService } from '../../../src/source/service/service.ts'
import { type Bench, openBench } from '../../run/batch-bench.ts'
import { openFakeService } from '../../service/fake-service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What a delivery says of a company: its name, its net sales by year, the stakes of its owners by their names. */
interface Said {
  readonly name: string
  readonly sales: Readonly<Record<number, number>>
  readonly owners?: Readonly<Record<string, number>>
  readonly country?: string
}

/** A delivery of a day of January 2026, by company. `lacking`: it was a whole listing, and these were not in it. */
interface Delivery {
  readonly day: number
  readonly said: Readonly<Record<number, Said>>
  readonly lacking?: readonly number[]
}

const instant = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString()

const companyLine = (id: number, { name, sales, country = 'SE' }: Said): string =>
  JSON.stringify({
    BasicDetails: { InternalId: id, CompanyName: name, CountryCode: country },
    Financials: { ProfitAndLoss: { NetSales: sales } },
  })

const relationsLine = (id: number, { name, owners = {} }: Said): string =>
  JSON.stringify({
    InternalId: id,
    Name: name,
    Parents: Object.entries(owners).map(([owner, stake], at) => ({
      InternalId: 900 + at,
      Name: owner,
      Ownerships: [{ OwnershipStake: stake }],
    })),
  })

let files = 0

const load = async (bench: Bench, { day, said }: Delivery): Promise<void> => {
  files += 1
  const entries = Object.entries(said).map(([id, one]) => [Number(id), one] as const)
  const names = [`companies-${files}.jsonl`, `relations-${files}.jsonl`] as const
  await bench.write(
    names[0],
    entries.map(([id, one]) => companyLine(id, one)),
  )
  await bench.write(
    names[1],
    entries.map(([id, one]) => relationsLine(id, one)),
  )
  await bench.run(names, { asOf: instant(day) })
}

/** A row with its key, and from which instant until which it is valid. */
type Interval = readonly [row: string, from: string, until: string | null]

/** Equal neighbours put together. */
const joined = (intervals: readonly Interval[]): readonly Interval[] => {
  const found: Interval[] = []
  for (const [row, from, until] of intervals.toSorted((a, b) =>
    `${a[0]} ${a[1]}` < `${b[0]} ${b[1]}` ? -1 : 1,
  )) {
    const before = found.at(-1)
    if (before?.[0] === row && before[2] === from) found.splice(-1, 1, [row, before[1], until])
    else found.push([row, from, until])
  }
  return found
}

/** Rows that a delivery has of a company, by table. */
const rowsOf: Readonly<Record<string, (id: number, said: Said) => readonly unknown[][]>> = {
  companies: (id, { name, country = 'SE' }) => [[id, name, country]],
  financials: (id, { sales, country = 'SE' }) =>
    Object.entries(sales).map(([year, value]) => [id, country, Number(year), value]),
  // That a list came empty is a column of the record.
  relations: (id, { name, owners = {} }) => [[id, name, Object.keys(owners).length === 0 ? 1 : null]],
  relation_entities: (id, { owners = {} }) => Object.keys(owners).map((owner, at) => [id, at, owner]),
  ownerships: (id, { owners = {} }) => Object.values(owners).map((stake, at) => [id, at, stake]),
}

const COLUMNS: Readonly<Record<string, string>> = {
  companies: 'internal_id, company_name, country_code',
  financials: 'internal_id, country_code, fiscal_year, value',
  relations: 'internal_id, name, len(empty_lists)',
  relation_entities: 'company_id, entity_no - 1, name',
  ownerships: 'company_id, entity_no - 1, ownership_stake',
}
const TABLES = Object.keys(COLUMNS)

/** All rows of a table over their intervals, from the deliveries. */
const expected = (deliveries: readonly Delivery[], table: string): readonly Interval[] => {
  const sorted = deliveries.toSorted((a, b) => a.day - b.day)
  const ids = new Set(sorted.flatMap(({ said }) => Object.keys(said).map(Number)))
  const intervals = [...ids].flatMap((id) => {
    const own = sorted.filter(({ said, lacking = [] }) => id in said || lacking.includes(id))
    return own.flatMap(({ day, said }, at): Interval[] => {
      const [one, next] = [said[id], own[at + 1]]
      if (one === undefined) return []
      const until = next === undefined ? null : instant(next.day)
      return (rowsOf[table]?.(id, one) ?? []).map((row) => [JSON.stringify(row), instant(day), until])
    })
  })
  return joined(intervals)
}

const allExpected = (deliveries: readonly Delivery[], tables = TABLES) =>
  Object.fromEntries(tables.map((table) => [table, expected(deliveries, table)]))

type Ask = (sql: string) => Promise<readonly (readonly unknown[])[]>

const NUMBERS = /"(-?\d+(?:\.\d+)?)"/g

/** The same as the lake has it. @param isJoined whether equal neighbours must be one row already */
const found = async (ask: Ask, tables = TABLES, isJoined = false) => {
  const all: Record<string, readonly Interval[]> = {}
  for (const table of tables) {
    const rows = await ask(
      `SELECT to_json({${(COLUMNS[table] ?? '')
        .split(', ')
        .map((column, at) => `c${at}: ${column}`)
        .join(
          ', ',
        )}})::VARCHAR, strftime(as_of, '%Y-%m-%dT%H:%M:%S.000Z'), strftime(until_as_of, '%Y-%m-%dT%H:%M:%S.000Z'), is_current FROM ${table}_history`,
    )
    const intervals = rows.map(([row, from, until, isCurrent]): Interval => {
      expect(isCurrent).toBe(until === null)
      const cells = Object.values(JSON.parse(String(row).replace(NUMBERS, '$1')))
      return [JSON.stringify(cells), String(from), until === null ? null : String(until)]
    })
    all[table] = joined(intervals)
    if (isJoined) expect([table, intervals.length]).toEqual([table, all[table].length])
  }
  return all
}

/** Asks `lake.duckdb` as any DuckDB does. */
const inLakeFile = async <T>(lake: string, use: (ask: Ask) => Promise<T>): Promise<T> => {
  await refreshLakeFiles(lake)
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(join(lake, 'lake.duckdb'))} AS lake (READ_ONLY); USE lake`)
    return await use(async (sql) => (await session.rows(sql)).map((row) => Object.values(row)))
  } finally {
    engine.close()
  }
}

const newBench = async (): Promise<Bench> => openBench(await temporaryFolder())

const compacted = async ({ lake }: Bench, options: Partial<CompactOptions> = {}): Promise<void> => {
  expect((await compact({ lake, ...options })).kind).toBe('compacted')
  await removeGarbage({ lake, now: new Date(), keep: 1 })
}

const one = (value: number, more: Partial<Said> = {}): Said => ({
  name: 'One',
  sales: { 2023: value, 2024: 7 },
  ...more,
})

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
  const bench = await newBench()
  let now = instant(1)
  const fake = await openFakeService({ companies: [], now: () => now })
  const { url, token, clock } = fake
  const service = createService({
    ...{ url, token, now: clock },
    maxRequestsPerSecond: 5000,
    trustClock: true,
  })
  const told: Delivery[] = []
  const pulled = async (delivery: Delivery): Promise<void> => {
    now = instant(delivery.day)
    fake.hold(
      Object.entries(delivery.said).map(([id, { name, sales }]) => ({
        ...{ id: Number(id), name, country: 'SE', lineItem: 'NetSales', value: sales[2023] ?? 0 },
        dates: { ContentUpdatedAt: now.slice(0, 10) },
      })),
    )
    await pull({
      ...{ from: service, lake: bench.lake, maxGone: '100%', content: 'companies' },
      search: { CountryCode: ['SE'] },
    })
    told.push(delivery)
  }
  const only = (value: number): Said => ({ name: 'One', sales: { 2023: value } })
  const names = async () =>
    (await found(bench.query, ['companies'])).companies?.map(([row, from, until]) => [row, from, until])
  try {
    await pulled({ day: 1, said: { 1: only(1), 2: only(2) } })
    await pulled({ day: 3, said: { 2: only(2) }, lacking: [1] })
    await compacted(bench)
    const expectAll = async (): Promise<void> => expect(await names()).toEqual(expected(told, 'companies'))
    await expectAll()
    expect(await bench.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[2]])
    expect(await bench.query('SELECT internal_id FROM companies_all ORDER BY 1')).toEqual([[1], [2]])
    await pulled({ day: 5, said: { 1: only(1), 2: only(2) } })
    await expectAll()
    await compacted(bench)
    await expectAll()
    await pulled({ day: 7, said: { 1: only(1) }, lacking: [2] })
    await compacted(bench)
    await expectAll()
    expect((await bench.verify()).problems).toEqual([])
  } finally {
    await service.close()
    await fake.close()
  }
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

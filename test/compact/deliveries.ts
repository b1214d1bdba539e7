/** Deliveries of invented companies: loaded as files, and the history that they make by their days, worked out without the lake. */

import { join } from 'node:path'
import { expect } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { pull } from '../../src/jobs/pull.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { refreshLakeFiles } from '../../src/manifest/lake-file/lake-file.ts'
import type { CompactOptions } from '../../src/options/interfaces.ts'
import { createService } from '../../src/source/service/service.ts'
import { type Bench, openBench } from '../run/batch-bench.ts'
import { openFakeService } from '../service/fake-service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What a delivery says of a company: its name, its net sales by year, the stakes of its owners by their names. */
export interface Said {
  readonly name: string
  readonly sales: Readonly<Record<number, number>>
  readonly owners?: Readonly<Record<string, number>>
  readonly country?: string
}

/** A delivery of a day of January 2026, by company. `lacking`: it was a whole listing, and these were not in it. */
export interface Delivery {
  readonly day: number
  readonly said: Readonly<Record<number, Said>>
  readonly lacking?: readonly number[]
}

export const instant = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString()

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

export const load = async (bench: Bench, { day, said }: Delivery): Promise<void> => {
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
export const TABLES = Object.keys(COLUMNS)

/** All rows of a table over their intervals, from the deliveries. */
export const expected = (deliveries: readonly Delivery[], table: string): readonly Interval[] => {
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

export const allExpected = (deliveries: readonly Delivery[], tables = TABLES) =>
  Object.fromEntries(tables.map((table) => [table, expected(deliveries, table)]))

export type Ask = (sql: string) => Promise<readonly (readonly unknown[])[]>

const NUMBERS = /"(-?\d+(?:\.\d+)?)"/g

/** The same as the lake has it. @param isJoined whether equal neighbours must be one row already */
export const found = async (ask: Ask, tables = TABLES, isJoined = false) => {
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
export const inLakeFile = async <T>(lake: string, use: (ask: Ask) => Promise<T>): Promise<T> => {
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

export const newBench = async (): Promise<Bench> => openBench(await temporaryFolder())

export const compacted = async ({ lake }: Bench, options: Partial<CompactOptions> = {}): Promise<void> => {
  expect((await compact({ lake, ...options })).kind).toBe('compacted')
  await removeGarbage({ lake, now: new Date(), keep: 1 })
}

export const one = (value: number, more: Partial<Said> = {}): Said => ({
  name: 'One',
  sales: { 2023: value, 2024: 7 },
  ...more,
})

/** Files of records, and answers of a service that lists all. */
export const withLoads = async (
  use: (bench: Bench, loaded: (delivery: Delivery) => Promise<void>) => Promise<void>,
): Promise<void> => {
  const bench = await newBench()
  let now = instant(1)
  const fake = await openFakeService({ companies: [], now: () => now })
  const { url, token, clock } = fake
  const options = { maxRequestsPerSecond: 5000, trustClock: true }
  const service = createService({ url, token, now: clock, ...options })
  const loaded = async (delivery: Delivery): Promise<void> => {
    if (delivery.lacking === undefined) return load(bench, delivery)
    now = instant(delivery.day)
    fake.hold(
      Object.entries(delivery.said).map(([id, { name, sales }]) => ({
        ...{ id: Number(id), name, country: 'SE', lineItem: 'NetSales', value: sales[2023] ?? 0 },
        dates: { ContentUpdatedAt: now.slice(0, 10) },
      })),
    )
    await pull({
      ...{ from: service, lake: bench.lake, maxGone: '100%', content: 'companies' },
      search: { CountryCode: ['SE', 'NO'] },
    })
  }
  try {
    await use(bench, loaded)
  } finally {
    await service.close()
    await fake.close()
  }
}

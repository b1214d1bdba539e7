/** Merges of the newest partitions between loads of any order: what is merged, and that no row is other than the deliveries say. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { records } from '../../src/jobs/records.ts'
import { SERVE_FOLDER } from '../../src/lake/files/layout.ts'
import { listManifest, newestSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { chooseEmbedder } from '../../src/server/ranking/choose-embedder.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { compareCatalog } from '../manifest/ducklake/in-catalog.ts'
import { companyLine } from '../run/batch-bench.ts'
import { LIMIT, placesOf } from '../server/serving-index/served-lake.ts'
import { missingDuckLake } from '../support/ducklake.ts'
import { needs } from '../support/needs.ts'
import { SEED } from '../support/seed.ts'
import {
  allExpected,
  compacted,
  type Delivery,
  expected,
  found,
  inLakeFile,
  newBench,
  type Said,
  withLoads,
} from './deliveries.ts'

/** Numbers from 0 to 1, the same of the same seed. */
const numbersOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const IDS = Array.from({ length: 12 }, (_, at) => at + 1)

/** Deliveries of days in any order, of which some are live and whole: those are of ever later days, and say who has left. */
class Deliveries {
  readonly told: Delivery[] = []
  readonly #next: () => number
  readonly #days: number[]
  readonly #known = new Set<number>()

  constructor(seed: number) {
    this.#next = numbersOf(seed)
    this.#days = Array.from({ length: 200 }, (_, at) => at + 1)
  }

  #below(most: number): number {
    return Math.floor(this.#next() * most)
  }

  #said(isLive: boolean): Said {
    const owners = this.#below(3)
    return {
      name: `Company ${this.#below(2)}`,
      sales: { 2023: this.#below(4), ...(this.#below(2) === 0 && !isLive && { 2024: 7 }) },
      ...(!isLive && {
        country: this.#below(4) === 0 ? 'NO' : 'SE',
        owners: Object.fromEntries(
          ['Ann', 'Bo', 'Cy'].slice(0, owners).map((name) => [name, this.#below(3)]),
        ),
      }),
    }
  }

  /** Many companies of a country that no other delivery tells of: what is merged behind them is small. */
  first(): Delivery {
    const said = Object.fromEntries(
      Array.from({ length: 3000 }, (_, at) => [1000 + at, { ...this.#said(false), country: 'DK' }]),
    )
    const delivery = { day: this.#days.shift() ?? 0, said }
    this.told.push(delivery)
    return delivery
  }

  /** Of a day that no other is of. @param isLive of the days behind all before */
  next(isLive: boolean): Delivery {
    const last = Math.max(0, ...this.told.map(({ day }) => day))
    const at = isLive
      ? this.#days.findIndex((day) => day > last)
      : this.#below(Math.min(this.#days.length, 60))
    const [day = 0] = this.#days.splice(at, 1)
    const ids = IDS.filter(() => this.#below(isLive ? 4 : 3) === 0)
    const said = Object.fromEntries(
      (ids.length === 0 ? [IDS.length + day] : ids).map((id) => [id, this.#said(isLive)]),
    )
    const delivery: Delivery = {
      ...{ day, said },
      ...(isLive && { lacking: [...this.#known].filter((id) => !(id in said)) }),
    }
    for (const id of Object.keys(said)) this.#known.add(Number(id))
    this.told.push(delivery)
    return delivery
  }
}

const RELATIONS = ['relations', 'relation_entities', 'ownerships']

/** The service is asked for companies only. */
const expectedOf = (told: readonly Delivery[]) => ({
  ...allExpected(told, ['companies', 'financials']),
  ...allExpected(
    told.filter(({ lacking }) => lacking === undefined),
    RELATIONS,
  ),
})

/** The most files of a table in the newest snapshot. */
const mostFiles = async (lake: string): Promise<number> => {
  const snapshot = await newestSnapshot(lake)
  const files = [...(snapshot?.partitions.flatMap((one) => one.files) ?? []), ...(snapshot?.files ?? [])]
  return Math.max(...[...Map.groupBy(files, ({ table }) => table).values()].map(({ length }) => length))
}

const FORGOTTEN = 4

const without = ({ day, said, lacking }: Delivery, id: number): Delivery => ({
  day,
  said: Object.fromEntries(Object.entries(said).filter(([one]) => Number(one) !== id)),
  ...(lacking && { lacking: lacking.filter((one) => one !== id) }),
})

/** Name and net sales of each company whose last delivery has it. */
const lastSaid = (told: readonly Delivery[]): ReadonlyMap<number, unknown> => {
  const last = new Map<number, unknown>()
  for (const { said, lacking = [] } of told.toSorted((a, b) => a.day - b.day)) {
    for (const [id, { name, sales }] of Object.entries(said)) last.set(Number(id), { name, sales })
    for (const id of lacking) last.delete(id)
  }
  return new Map([...last].toSorted(([a], [b]) => a - b))
}

/** The same as the lake gives records back. */
const recordsOf = async (lake: string): Promise<ReadonlyMap<number, unknown>> => {
  const found: [number, unknown][] = []
  for await (const text of records({ lake, content: 'companies' })) {
    const { BasicDetails, Financials } = JSON.parse(text)
    const sales = Financials.ProfitAndLoss.NetSales
    found.push([BasicDetails.InternalId, { name: BasicDetails.CompanyName, sales }])
  }
  return new Map(found.toSorted(([a], [b]) => a - b))
}

test('a merge drops no history: both options together are refused', async () => {
  const { lake } = await newBench()
  await expect(compact({ lake, auto: true, dropHistory: true })).rejects.toMatchObject({ code: 'USAGE' })
})

/** Figures of thousands, and an item that no contract knows. */
const itemLine = (id: number, item: string): string =>
  companyLine(id, {
    MetaData: {
      ContentUpdatedAt: '2025-01-01T00:00:00',
      FinancialFigureScale: 'Thousands',
      CurrentCurrencyCode: 'SEK',
    },
    Financials: { ProfitAndLoss: { NetSales: { 2023: id }, [item]: { 2023: 7 } } },
  })

/** The segments of a lake's serving index, and the net sales that two companies have in it. */
const indexOf = async (lake: string) => {
  const embedder = await chooseEmbedder({})
  const index = await currentIndex({ lake, memoryBytes: 256 * 1024 ** 2, threads: 1, embedder })
  try {
    const rows = await index.query(
      (session) =>
        session.rows('SELECT * FROM serving.company WHERE internal_id IN (1, 101) ORDER BY internal_id'),
      LIMIT,
    )
    const strings = await index.documents('companies', placesOf(rows))
    const sales = strings.map((text) => JSON.parse(String(text)).Financials.ProfitAndLoss.NetSales[2023])
    return { segments: index.description.segments, sales }
  } finally {
    await index.close()
  }
}

test('partitions that a merge leaves as they are have their items in its dictionary: records, index and forget find them, and sinks get nothing', async () => {
  const bench = await newBench()
  const { lake } = bench
  const [LARGEST, ITEMS] = [
    Array.from({ length: 400 }, (_, at) => 100 + at),
    "SELECT line_item FROM line_items WHERE unit = 'unknown' ORDER BY 1",
  ]
  const load = async (name: string, lines: readonly string[]): Promise<void> => {
    await bench.write(name, lines)
    await bench.run([name])
  }
  await load(
    'first.jsonl',
    LARGEST.map((id) => itemLine(id, id === 100 ? 'OfOne' : 'OfMany')),
  )
  const sinks = [join(bench.folder, 'sink.duckdb')]
  const delivered = async (): Promise<number> =>
    (await deliver({ lake, sinks })).reduce((rows, one) => rows + one.rows, 0)
  const { segments: before } = await indexOf(lake)
  for (let id = 1; id <= 12; id += 1)
    await load(`${id}.jsonl`, [itemLine(id, id === 1 ? 'OfMerged' : 'OfMany')])
  expect(await delivered()).toBeGreaterThan(400)
  expect((await compact({ lake, auto: true })).kind).toBe('compacted')
  expect((await newestSnapshot(lake))?.partitions).toHaveLength(2)
  expect(await delivered()).toBe(0)
  const { segments: after } = await indexOf(lake)
  // The index takes over what the merge leaves, and makes it the same where it makes it anew.
  expect(after.map(({ name }) => name)).toEqual([before[0]?.name, expect.any(String)])
  await rm(join(lake, SERVE_FOLDER), { recursive: true })
  const { segments, sales } = await indexOf(lake)
  expect(segments.length).toBeGreaterThan(0)
  expect(sales).toEqual([1, 101])
  const found = await Array.fromAsync(records({ lake, content: 'companies', ids: [1, 101] }))
  expect(found.map((text) => JSON.parse(text).Financials.ProfitAndLoss.NetSales[2023]).sort()).toEqual([
    1, 101,
  ])
  expect(await bench.query(ITEMS)).toEqual([['OfMany'], ['OfMerged'], ['OfOne']])
  await forget({ lake, companies: [1] })
  expect(await bench.query(ITEMS)).toEqual([['OfMany'], ['OfOne']])
  await forget({ lake, companies: [100] })
  expect(await bench.query(ITEMS)).toEqual([['OfMany']])
})

test('a company that is forgotten leaves nothing in a merge that knew only of a listing without it', async () => {
  await withLoads(async ({ lake, query }, loaded) => {
    const said = (value: number): Said => ({ name: 'One', sales: { 2023: value } })
    const others = Array.from({ length: 400 }, (_, at) => [100 + at, { ...said(1), country: 'DK' }] as const)
    await loaded({ day: 1, said: { 1: said(1), ...Object.fromEntries(others) } })
    await loaded({ day: 20, said: { 2: said(2) }, lacking: [1] })
    for (let day = 2; day <= 12; day += 1) await loaded({ day, said: { 3: said(day) } })
    expect((await compact({ lake, auto: true })).kind).toBe('compacted')
    expect(await query('SELECT internal_id FROM companies WHERE internal_id < 100 ORDER BY 1')).toEqual([
      [2],
      [3],
    ])
    await forget({ lake, companies: [1], allowLater: true })
    // Of a day before the listing, of which the lake knows nothing any more.
    await loaded({ day: 15, said: { 1: said(15) } })
    const rows = await query(
      "SELECT strftime(as_of, '%d'), until_as_of FROM companies_history WHERE internal_id = 1",
    )
    expect(rows).toEqual([['15', null]])
    expect(await query("SELECT value FROM figures_as_known('2999-01-01') WHERE internal_id = 1")).toEqual([
      [15],
    ])
  })
})

test.for(['some partitions', 'all partitions'] as const)(
  'a company that a listing lacks again does not come back by older data behind a merge of %s',
  async (merged, context) => {
    needs(context, "DuckDB's extension ducklake", missingDuckLake())
    await withLoads(async (bench, loaded) => {
      const { lake, query } = bench
      const told: Delivery[] = []
      const add = async (delivery: Delivery): Promise<void> => {
        await loaded(delivery)
        told.push(delivery)
      }
      const said = (value: number): Said => ({ name: `of ${value}`, sales: { 2023: value } })
      const others = Array.from(
        { length: 400 },
        (_, at) => [100 + at, { ...said(1), country: 'DK' }] as const,
      )
      const expectAll = async (ask = query): Promise<void> =>
        expect((await found(ask, ['companies'])).companies).toEqual(expected(told, 'companies'))
      await add({ day: 1, said: { 1: said(1), 4: said(1), ...Object.fromEntries(others) } })
      await add({ day: 20, said: { 2: said(2) }, lacking: [1, 4] })
      const isSome = merged === 'some partitions'
      if (isSome) for (let day = 2; day <= 12; day += 1) await add({ day, said: { 3: said(day) } })
      expect((await compact({ lake, auto: isSome })).kind).toBe('compacted')
      await add({ day: 30, said: { 2: said(2) }, lacking: isSome ? [1, 3, 4] : [1, 4] })
      await add({ day: 25, said: { 1: said(25) } })
      await add({ day: 15, said: { 4: said(15) } })
      await expectAll()
      await inLakeFile(lake, expectAll)
      expect(await compareCatalog(lake, (await listManifest(lake)).snapshots.map(Number).slice(-3))).toEqual(
        [],
      )
      await compacted(bench)
      await expectAll()
      expect(await query('SELECT internal_id FROM companies WHERE internal_id < 100 ORDER BY 1')).toEqual([
        [2],
      ])
    })
  },
)

test('merges between loads in any order leave every version of every row as it was delivered', async (context) => {
  needs(context, "DuckDB's extension ducklake", missingDuckLake())
  await withLoads(async (bench, loaded) => {
    const { lake, query } = bench
    const deliveries = new Deliveries(SEED)
    await loaded(deliveries.first())
    let merges = 0
    for (let night = 1; night <= 28; night += 1) {
      await loaded(deliveries.next(night % 5 === 0))
      const { kind } = await compact({ lake, auto: true })
      if (kind === 'compacted') merges += 1
      expect(await mostFiles(lake)).toBeLessThanOrEqual(12)
      if (night % 14 === 0) expect([night, await found(query)]).toEqual([night, expectedOf(deliveries.told)])
    }
    expect(merges).toBeGreaterThan(3)
    const { partitions } = (await newestSnapshot(lake)) ?? { partitions: [] }
    const merged = partitions.filter(({ source }) => source.kind === 'compaction')
    expect(merged.filter(({ content }) => content === 'companies').length).toBeGreaterThan(1)
    expect(merged.filter(({ content }) => content === 'relations').length).toBeGreaterThan(1)
    // As `lake.duckdb` has it.
    expect(await inLakeFile(lake, (ask) => found(ask))).toEqual(expectedOf(deliveries.told))
    const snapshots = (await listManifest(lake)).snapshots.map(Number)
    expect(await compareCatalog(lake, snapshots.slice(-4))).toEqual([])
    expect((await bench.verify()).problems).toEqual([])
    expect(await recordsOf(lake)).toEqual(lastSaid(deliveries.told))
    await forget({ lake, companies: [FORGOTTEN] })
    const told = deliveries.told.map((one) => without(one, FORGOTTEN))
    expect(await found(query)).toEqual(expectedOf(told))
    expect((await bench.verify()).problems).toEqual([])
    await compacted(bench)
    expect(await found(query)).toEqual(expectedOf(told))
    // Answers of the service have further columns, so that their rows are others than those of files.
    await found(query, RELATIONS, true)
    expect((await bench.verify()).problems).toEqual([])
  })
}, 240_000)

import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Snapshot } from '../../../src/core/partition.ts'
import { type DiffRows, type LakeDiff, openComparison } from '../../../src/lake/diff/open-comparison.ts'
import { type Batch, type LoadedLake, Workbench } from '../../load/loaded-lake.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

type Series = Readonly<Record<number, number>>
type Figures = Readonly<Record<string, Series>>

/** A company with net sales and so on of its consolidated statements. */
const company = (InternalId: number, figures: Figures = {}, currency = 'SEK', name = 'Company'): object => ({
  BasicDetails: { InternalId, CompanyName: name, CountryCode: 'SE' },
  MetaData: { CurrentCurrencyCode: currency },
  Financials: { ProfitAndLoss: figures },
})
const companies = (...lines: readonly object[]): Batch => ({ content: 'companies', lines })
const relations = (...lines: readonly object[]): Batch => ({ content: 'relations', lines })

/** The lake as of some of its partitions. */
const asOf = (lake: LoadedLake, number: number, ...partitions: readonly number[]): Snapshot => ({
  ...lake.snapshot,
  snapshot: number,
  partitions: partitions.flatMap((at) => lake.snapshot.partitions[at] ?? []),
})

const compare = async (
  { lake }: LoadedLake,
  from: Snapshot,
  to: Snapshot,
  memoryBytes = 256 * 1024 ** 2,
): Promise<LakeDiff> => {
  const [old, other] = [await bench.listed(lake, from), await bench.listed(lake, to)]
  const diff = await openComparison({ lake, from: old, to: other, memoryBytes })
  onTestFinished(() => diff.close())
  return diff
}

/** The change that the second of two batches makes. */
const change = async (before: Batch, after: Batch): Promise<LakeDiff> => {
  const lake = await bench.load(before, after)
  return compare(lake, asOf(lake, 1, 0), asOf(lake, 2, 0, 1))
}

const rowsOf = async (diff: LakeDiff, which: DiffRows): Promise<(readonly unknown[])[]> => {
  const rows: (readonly unknown[])[] = []
  for await (const chunk of (await diff.rows(which)).rows) rows.push(...chunk)
  return rows
}

/** `[change, id, line item, year, old value, old currency, new value, new currency]` */
const restated = async (diff: LakeDiff): Promise<unknown[][]> =>
  (await rowsOf(diff, 'restatements')).map(([kind, id, , , , ...figure]) => [
    kind,
    id,
    ...figure.slice(0, -2),
  ])

/** `[kind, change, id, country, tables that differ]` */
const records = async (diff: LakeDiff): Promise<unknown[][]> =>
  (await rowsOf(diff, 'records')).map((row) => row.slice(0, -1))

test('diff tells how far it is, and stops on a signal without leaving anything', async () => {
  const lake = await bench.load(
    companies(company(1, { NetSales: { 2022: 1 } })),
    companies(company(1, { NetSales: { 2022: 2 } })),
  )
  const snapshots = { from: asOf(lake, 1, 0), to: asOf(lake, 2, 0, 1) }
  const options = { lake: lake.lake, ...snapshots, memoryBytes: 256 * 1024 ** 2 }
  const told: string[] = []
  const diff = await openComparison({
    ...options,
    onProgress: ({ table, tablesDone, tables }) => told.push(`${table} ${tablesDone}/${tables}`),
  })
  diff.close()
  expect(told).toContain('financials 1/7')
  const controller = new AbortController()
  const stopped = openComparison({
    ...options,
    signal: controller.signal,
    onProgress: ({ table }) => table === 'financials' && controller.abort(),
  })
  await expect(stopped).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(existsSync(join(tmpdir(), `firmlake-diff-${process.pid}`))).toBe(false)
})

const NOTHING = { new: 0, changed: 0, gone: 0 }

test('diff names companies that are new and changed, and the tables in which they differ', async () => {
  const diff = await change(
    companies(company(1), company(2, { NetSales: { 2022: 1 } }), company(3), company(4)),
    companies(
      company(1, {}, 'SEK', 'renamed'),
      company(2, { NetSales: { 2022: 2 } }, 'SEK', 'both'),
      company(4),
      company(5),
    ),
  )
  expect(diff.summary.companies).toEqual({ new: 1, changed: 2, gone: 0, currencyChanged: 0 })
  expect(await records(diff)).toEqual([
    ['company', 'changed', 1, 'SE', 'companies'],
    ['company', 'changed', 2, 'SE', 'companies,financials'],
    ['company', 'new', 5, 'SE', null],
  ])
})

test('diff names companies that are gone', async () => {
  const lake = await bench.load(companies(company(1), company(2)), companies(company(1)))
  const diff = await compare(lake, asOf(lake, 1, 0), asOf(lake, 2, 1))
  expect(diff.summary.companies).toEqual({ ...NOTHING, gone: 1, currencyChanged: 0 })
  expect(await records(diff)).toEqual([['company', 'gone', 2, 'SE', null]])
})

test('diff takes a company for changed when only its headcount is', async () => {
  const employing = (count: number): object => ({
    BasicDetails: { InternalId: 1 },
    EnhancedDetails: { Employees: { 2022: count } },
  })
  const diff = await change(companies(employing(5)), companies(employing(6)))
  expect(await records(diff)).toEqual([['company', 'changed', 1, null, 'employees']])
})

test('diff names relations that are new, changed and gone', async () => {
  const related = (InternalId: number, stake: number): object => ({
    InternalId,
    Parents: [{ InternalId: 9, Ownerships: [{ OwnershipStake: stake }] }],
  })
  const lake = await bench.load(
    relations(related(1, 10), related(2, 20), related(3, 30)),
    relations(related(1, 10), related(2, 21), related(4, 40)),
  )
  const diff = await compare(lake, asOf(lake, 1, 0), asOf(lake, 2, 1))
  expect(diff.summary.relations).toEqual({ new: 1, changed: 1, gone: 1 })
  expect(
    (await rowsOf(diff, 'records')).map(([kind, what, id, , differs]) => [kind, what, id, differs]),
  ).toEqual([
    ['relations', 'changed', 2, 'ownerships'],
    ['relations', 'gone', 3, null],
    ['relations', 'new', 4, null],
  ])
})

test('diff finds nothing in new versions with the same values', async () => {
  const same = companies(company(1, { NetSales: { 2022: 0.1 + 0.2 } }), company(2))
  const diff = await change(same, same)
  expect(diff.summary).toMatchObject({
    companies: { ...NOTHING, currencyChanged: 0 },
    relations: NOTHING,
    restatements: { changed: 0, added: 0, withdrawn: 0, companies: 0 },
  })
  expect(await rowsOf(diff, 'all')).toEqual([])
})

test('diff finds nothing after a compaction', async () => {
  const lake = await bench.load(
    companies(company(1, { NetSales: { 2022: 1 } }), company(2)),
    companies(company(1, { NetSales: { 2022: 5 } })),
    companies(company(1, { NetSales: { 2022: 5 } }), company(2)),
  )
  const diff = await compare(lake, asOf(lake, 1, 0, 1), asOf(lake, 2, 2))
  expect(await rowsOf(diff, 'all')).toEqual([])
})

test('diff finds nothing between a snapshot and itself, nor in a lake without records', async () => {
  const lake = await bench.load(companies(company(1)))
  expect(await rowsOf(await compare(lake, lake.snapshot, lake.snapshot), 'all')).toEqual([])
  expect(await rowsOf(await compare(lake, asOf(lake, 1), asOf(lake, 2)), 'all')).toEqual([])
})

test('diff compares current versions, not those that were superseded in between', async () => {
  const lake = await bench.load(
    companies(company(1, { NetSales: { 2022: 1 } })),
    companies(company(1, { NetSales: { 2022: 2 } })),
    companies(company(1, { NetSales: { 2022: 1 } })),
  )
  expect(await rowsOf(await compare(lake, asOf(lake, 1, 0), asOf(lake, 3, 0, 1, 2)), 'all')).toEqual([])
  const step = await compare(lake, asOf(lake, 2, 0, 1), asOf(lake, 3, 0, 1, 2))
  expect(await restated(step)).toEqual([['changed', 1, 'NetSales', 2022, 2, 'SEK', 1, 'SEK']])
})

test('a figure of a reported year with another value is a restatement, by the last digit of a double', async () => {
  const diff = await change(
    companies(company(1, { NetSales: { 2021: 0.3, 2022: 7 } })),
    companies(company(1, { NetSales: { 2021: 0.1 + 0.2, 2022: 7 } })),
  )
  expect(await restated(diff)).toEqual([['changed', 1, 'NetSales', 2021, 0.3, 'SEK', 0.1 + 0.2, 'SEK']])
  expect(diff.summary.restatements).toEqual({ changed: 1, added: 0, withdrawn: 0, companies: 1 })
})

test('the same amounts in another scale are no difference of figures', async () => {
  const scaled = (FinancialFigureScale: string, sales: Series): object => ({
    ...company(1, { NetSales: sales }),
    MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale },
  })
  const diff = await change(
    companies(scaled('Millions', { 2020: 2130.7, 2021: -17.3 })),
    companies(scaled('Thousands', { 2020: 2130700, 2021: -17300 })),
  )
  expect(await restated(diff)).toEqual([])
  expect(await records(diff)).toEqual([['company', 'changed', 1, 'SE', 'companies']])
})

test('a figure that vanished is withdrawn, one that came for a year reported before is added, a new year is news', async () => {
  const diff = await change(
    companies(company(1, { NetSales: { 2020: 1, 2022: 3 } })),
    companies(
      company(1, { NetSales: { 2021: 2, 2022: 3, 2023: 4 }, TotalOperatingCosts: { 2022: 5, 2023: 6 } }),
    ),
  )
  expect(await restated(diff)).toEqual([
    ['withdrawn', 1, 'NetSales', 2020, 1, 'SEK', null, null],
    ['added', 1, 'NetSales', 2021, null, null, 2, 'SEK'],
    ['added', 1, 'TotalOperatingCosts', 2022, null, null, 5, null],
  ])
  expect(diff.summary.restatements).toEqual({ changed: 0, added: 2, withdrawn: 1, companies: 1 })
})

test('a zero that became no figure is withdrawn', async () => {
  const diff = await change(
    companies(company(1, { NetSales: { 2021: 0, 2022: 1 } })),
    companies(company(1, { NetSales: { 2022: 1 } })),
  )
  expect(await restated(diff)).toEqual([['withdrawn', 1, 'NetSales', 2021, 0, 'SEK', null, null]])
})

test('first figures of a company, and figures of one that is new or gone, are no restatements', async () => {
  const lake = await bench.load(
    companies(company(1), company(2, { NetSales: { 2022: 1 } })),
    companies(company(1, { NetSales: { 2020: 1 } }), company(3, { NetSales: { 2020: 1 } })),
  )
  const diff = await compare(lake, asOf(lake, 1, 0), asOf(lake, 2, 1))
  expect(diff.summary.companies).toEqual({ new: 1, changed: 1, gone: 1, currencyChanged: 0 })
  expect(await restated(diff)).toEqual([])
})

test('a company whose amounts all came in another currency is counted, not restated; its ratios still are', async () => {
  const figures = (sales: number, ratio: number, currency: string): object => ({
    ...company(1, {}, currency),
    Financials: { ProfitAndLoss: { NetSales: { 2021: sales } }, KeyFinancialRatio: { PE: { 2021: ratio } } },
  })
  const diff = await change(companies(figures(110, 0.5, 'SEK')), companies(figures(10, 0.6, 'EUR')))
  expect(diff.summary.companies).toMatchObject({ changed: 1, currencyChanged: 1 })
  expect(await restated(diff)).toEqual([['changed', 1, 'PE', 2021, 0.5, null, 0.6, null]])
})

test('figures that are no money, of the contract or not, are the same in every currency', async () => {
  const figures = (currency: string): object => ({
    ...company(1, {}, currency),
    Financials: {
      KeyFinancialRatio: { PE: { 2021: 0.5 }, RRK: { 2021: 3 } },
      Strange: { Thing: { 2021: 7 } },
    },
  })
  const diff = await change(companies(figures('SEK')), companies(figures('EUR')))
  expect(diff.summary.companies).toMatchObject({ changed: 1, currencyChanged: 0 })
  expect(await restated(diff)).toEqual([])
  expect(await records(diff)).toEqual([['company', 'changed', 1, 'SE', 'companies']])
})

test('diff gives all rows in one set of columns, or only those of one part', async () => {
  const diff = await change(
    companies(company(1, { NetSales: { 2022: 1 } })),
    companies(company(1, { NetSales: { 2022: 2 } })),
  )
  const [record, figure] = await rowsOf(diff, 'all')
  expect([record?.[0], figure?.[0]]).toEqual(['company', 'restatement'])
  expect(await rowsOf(diff, 'all-records')).toEqual([record])
  expect(await rowsOf(diff, 'all-restatements')).toEqual([figure])
})

test('diff compares in parts what does not fit into memory at once', async () => {
  const items = Array.from({ length: 10 }, (_, at) => `Item${at}`)
  const many = (change: number): Batch =>
    companies(
      ...Array.from({ length: 1500 }, (_, id) => {
        const series = Object.fromEntries(
          items.map((_item, year) => [2010 + year, id + (year === 3 ? change : 0)]),
        )
        return company(id - 700, Object.fromEntries(items.map((item) => [item, series])))
      }),
    )
  const lake = await bench.load(many(0), many(0.5))
  const diff = await compare(lake, asOf(lake, 1, 0), asOf(lake, 2, 0, 1), 64 * 1024 ** 2)
  expect(diff.summary.companies.changed).toBe(1500)
  expect(diff.summary.restatements).toEqual({ changed: 15_000, added: 0, withdrawn: 0, companies: 1500 })
})

test('diff gives names, percent, and the columns that changed with both values', async () => {
  const diff = await change(
    companies(company(1, { NetSales: { 2022: 100 } }), company(2, { NetSales: { 2022: -50 } })),
    companies(
      company(1, { NetSales: { 2022: 112.5 } }, 'SEK', 'Renamed'),
      company(2, { NetSales: { 2022: -75 } }),
    ),
  )
  expect((await rowsOf(diff, 'records')).map((row) => row.at(-1))).toEqual(['Renamed', 'Company'])
  expect(await rowsOf(diff, 'columns')).toEqual([
    ['company', 1, 'Renamed', 'company_name', 'Company', 'Renamed'],
  ])
  expect((await rowsOf(diff, 'restatements')).map((row) => row.slice(-2))).toEqual([
    ['Renamed', 12.5],
    ['Company', -50],
  ])
  const { columns } = await diff.rows('all')
  const at = columns.findIndex(({ name }) => name === 'columns')
  expect((await rowsOf(diff, 'all')).map((row) => row[at])).toEqual([
    [{ column: 'company_name', old: 'Company', new: 'Renamed' }],
    null,
    null,
    null,
  ])
})

test('diff gives no percent of a figure in another currency, of zero, and of one that is new', async () => {
  const diff = await change(
    companies(
      company(1, { NetSales: { 2022: 0 }, EBIT: { 2022: 5 } }),
      company(2, { NetSales: { 2022: 1 } }, 'EUR'),
    ),
    companies(company(1, { NetSales: { 2022: 3 } }), company(2, { NetSales: { 2022: 2 } }, 'SEK')),
  )
  for (const row of await rowsOf(diff, 'restatements')) expect(row.at(-1)).toBeNull()
  expect(diff.summary.restatements).toMatchObject({ changed: 1, withdrawn: 1 })
})

test('diff goes by what was said last: older data that came later changes nothing', async () => {
  const lake = await bench.load(
    companies(company(1, { NetSales: { 2022: 10 } }), company(2, {}, 'SEK', 'Two')),
    companies(company(1, { NetSales: { 2022: 9 } }), company(3)),
    companies(company(2, {}, 'SEK', 'Second')),
  )
  const dated = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    partitions: snapshot.partitions.map((one, at) => ({
      ...one,
      asOf: `2026-01-${[10, 11, 12][at]}T00:00:00Z`,
    })),
  })
  // The second came last of all and is the oldest.
  const late = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    partitions: snapshot.partitions.map((one) =>
      one.id.startsWith('1-') ? { ...one, asOf: '2026-01-09T00:00:00Z' } : one,
    ),
  })
  const [from, to] = [dated(asOf(lake, 1, 0)), late(dated(asOf(lake, 2, 0, 1, 2)))]
  expect((await records(await compare(lake, from, to))).map((row) => row.slice(0, 3))).toEqual([
    ['company', 'changed', 2],
    ['company', 'new', 3],
  ])
})

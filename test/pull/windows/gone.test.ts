import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { gc } from '../../../src/jobs/gc.ts'
import type { PullSummary } from '../../../src/jobs/pull.ts'
import { records } from '../../../src/jobs/records.ts'
import { syncSearch } from '../../../src/jobs/sync.ts'
import { listSnapshots } from '../../../src/manifest/snapshots/snapshots.ts'
import type { ExportOptions } from '../../../src/options/interfaces.ts'
import { exportTables } from '../../../src/targets/export/export-tables.ts'
import { verify } from '../../run/batch-bench.ts'
import { stoppedBehindCommit } from '../../run/stopped-behind-commit.ts'
import { cursorAt, type FakeCompany, type FakeServiceOptions } from '../../service/fake-service.ts'
import {
  openPullBench,
  openPulledService,
  type PullBench,
  type PulledService,
  pullBench,
  SWEDEN,
} from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const company = (id: number, more: Partial<FakeCompany> = {}): FakeCompany => ({
  id,
  country: 'SE',
  status: 10,
  lineItem: 'NetSales',
  dates: { ContentUpdatedAt: '2026-01-01' },
  ...more,
})
const companies = (count: number, more: Partial<FakeCompany> = {}): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => company(at + 1, more))
const without = (all: readonly FakeCompany[], ...ids: number[]): FakeCompany[] =>
  all.filter(({ id }) => !ids.includes(id))

const all = companies(100)

/** One service for all tests of this file, and a lake into which all of it was pulled: a lake knows where it came from. */
let shared: PulledService & { readonly folder: string }
/** What the service answers in place of a page. */
let instead: FakeServiceOptions['before']
beforeAll(async () => {
  const opened = await openPulledService({ companies: all, before: (...asked) => instead?.(...asked) })
  shared = { ...opened, folder: await mkdtemp(join(tmpdir(), 'firmlake-')) }
  await pull(pullBench(opened, join(shared.folder, 'lake')))
  return async () => {
    await opened.close()
    await rm(shared.folder, { recursive: true })
  }
})

/** That service, and a copy of that lake. */
const pulled = async (before?: FakeServiceOptions['before']): Promise<PullBench> => {
  instead = before
  shared.fake.hold(all)
  const folder = await temporaryFolder()
  await cp(shared.folder, folder, { recursive: true, preserveTimestamps: true })
  return pullBench(shared, join(folder, 'lake'))
}

const pull = (one: PullBench, ...[settings, options]: Parameters<PullBench['pull']>): Promise<PullSummary> =>
  one.pull({ pageSize: 100, ...settings }, options)

const isListing = ({ table }: { readonly table: string }): boolean => table === 'listings'

const count = async (one: PullBench, view = 'companies'): Promise<unknown> =>
  (await one.query(`SELECT count(*) FROM ${view}`))[0]?.[0]
const gone = async (one: PullBench): Promise<unknown[]> =>
  (await one.query('SELECT internal_id FROM listings ORDER BY 1')).map(([id]) => id)

const sync = (one: PullBench, search = SWEDEN) =>
  syncSearch(
    one.fake.url,
    { search },
    { lake: one.lake, service: one.service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 } },
  )

test('a pull marks the companies that its search no longer has, and shows them in companies_all', async () => {
  const one = await pulled()
  await pull(one)
  // Where none is gone, nothing is written of it.
  expect((await one.snapshot()).partitions.map(({ source }) => source.kind)).toEqual(['search', 'search'])
  expect(existsSync(join(one.lake, 'listings'))).toBe(false)
  one.fake.hold(without(all, 7, 50))
  const { summary } = await pull(one)
  expect(summary.gone).toEqual([{ search: '{"CountryCode":["SE"]}', marked: 2 }])
  expect(await count(one)).toBe(98)
  expect(await count(one, 'financials')).toBe(98)
  expect(await count(one, 'companies_all')).toBe(100)
  expect(
    await one.query(
      'SELECT internal_id, company_name, gone_since FROM companies_all WHERE gone_since IS NOT NULL ORDER BY 1',
    ),
  ).toEqual([
    [7, 'Company 7', '2026-06-15T12:00:00.000Z'],
    [50, 'Company 50', '2026-06-15T12:00:00.000Z'],
  ])
  expect(await one.query('SELECT internal_id, search, seen IS NOT NULL FROM listings ORDER BY 1')).toEqual([
    [7, '{"CountryCode":["SE"]}', true],
    [50, '{"CountryCode":["SE"]}', true],
  ])
  // Statements about some ids open the files of these alone.
  const ofIds = 'WHERE internal_id IN (6, 7) ORDER BY 1'
  expect(await one.query(`SELECT internal_id FROM companies ${ofIds}`)).toEqual([[6]])
  expect(await one.query(`SELECT internal_id FROM financials ${ofIds}`)).toEqual([[6]])
  expect(await one.query(`SELECT internal_id, gone_since IS NULL FROM companies_all ${ofIds}`)).toEqual([
    [6, true],
    [7, false],
  ])
  expect(await one.query(`SELECT internal_id FROM listings ${ofIds}`)).toEqual([[7]])
  // Nothing is deleted, and the snapshot before answers as it did.
  expect(await one.query('SELECT count(*) FROM companies_history WHERE internal_id = 7')).toEqual([[2]])
  const [first] = await listSnapshots(one.lake)
  let held = 0
  for await (const _ of records({ lake: one.lake, snapshot: first })) held += 1
  expect(held).toBe(100)
  const ids: number[] = []
  for await (const text of records({ lake: one.lake })) ids.push(JSON.parse(text).BasicDetails.InternalId)
  expect(ids.sort((a, b) => a - b)).toEqual(without(all, 7, 50).map(({ id }) => id))
  let withGone = 0
  for await (const _ of records({ lake: one.lake, all: true })) withGone += 1
  expect(withGone).toBe(100)
  const folder = await temporaryFolder()
  const rows = async (more: Partial<ExportOptions>): Promise<unknown> => {
    const to = `jsonl:${folder}`
    const { tables } = await exportTables({ lake: one.lake, to, overwrite: true, ...more })
    return Object.fromEntries(tables.map(({ table, rows: written }) => [table, written]))
  }
  expect(await rows({ tables: ['companies', 'financials'] })).toEqual({ companies: 98, financials: 98 })
  expect(await rows({ tables: ['companies', 'financials'], all: true })).toEqual({
    ...{ companies: 100, financials: 100 },
  })
  expect((await verify(one.lake)).problems).toEqual([])
})

test('the same pull after a kill behind its commit says what that has marked', async () => {
  const one = await pulled()
  one.fake.hold(without(all, 7, 50))
  await stoppedBehindCommit(one.lake, (onEvent) => pull(one, {}, { onEvent }))
  const { summary } = await pull(one)
  expect(summary.already).toBeDefined()
  expect(summary.gone).toEqual([{ search: '{"CountryCode":["SE"]}', marked: 2 }])
  expect(await gone(one)).toEqual([7, 50])
})

test('a company that comes back is shown again, by a pull and by a sync that finds it unchanged', async () => {
  const one = await pulled()
  one.fake.hold(without(all, 7, 50))
  await pull(one)
  one.fake.hold(without(all, 50))
  await pull(one)
  expect(await gone(one)).toEqual([50])
  one.fake.hold(all)
  expect((await sync(one)).findings).toMatchObject({ new: [50], unchanged: 99 })
  expect(await gone(one)).toEqual([])
  expect(await count(one)).toBe(100)
})

test('a sync marks what it finds vanished, also where nothing else changed', async () => {
  const one = await pulled()
  one.fake.hold(without(all, 3))
  const first = await sync(one)
  expect(first.summary.gone).toEqual([{ search: '{"CountryCode":["SE"]}', marked: 1 }])
  expect(await gone(one)).toEqual([3])
  const again = await sync(one)
  expect(again.findings.vanished).toEqual([])
  expect(again.summary.gone).toBeUndefined()
  expect(await gone(one)).toEqual([3])
})

test('more than --max-gone marks none and says so', async () => {
  const one = await pulled()
  one.fake.hold(without(all, 1, 2, 3))
  const reason = '3 of 100 companies of the search were not listed (3 %), more than the 2 % of --max-gone'
  expect((await pull(one)).summary.gone).toEqual([{ search: '{"CountryCode":["SE"]}', marked: 0, reason }])
  expect((await sync(one)).summary.gone).toEqual([{ search: '{"CountryCode":["SE"]}', marked: 0, reason }])
  expect(await count(one)).toBe(100)
  await pull(one, {}, { maxGone: { kind: 'count', lines: 3 } })
  expect(await gone(one)).toEqual([1, 2, 3])
})

test('a service that has no company any more marks none', async () => {
  const one = await pulled()
  one.fake.hold([])
  const { summary } = await pull(one)
  expect(summary.gone).toMatchObject([{ marked: 0, reason: expect.stringContaining('100 of 100') }])
  expect(await count(one)).toBe(100)
})

test('a listing that is cut short marks none', async () => {
  const one = await pulled(({ cursor }) =>
    cursor === '*' ? { companies: all.slice(0, 99), cursor: null, totalCount: 100 } : undefined,
  )
  const { summary } = await pull(one)
  expect(summary.gone).toMatchObject([{ marked: 0, reason: '99 of 100 announced companies came' }])
  expect(await count(one)).toBe(100)
})

test('a company that a whole-looking listing left out is asked for, and not marked', async () => {
  // As many as announced, one of them is another search's.
  const one = await pulled(({ cursor, search }) =>
    cursor === '*' && !('InternalId' in search)
      ? { companies: [...without(all, 9), company(999)], cursor: null, totalCount: 100 }
      : undefined,
  )
  expect((await pull(one)).summary.gone).toBeUndefined()
  expect(await gone(one)).toEqual([])
})

test('a page that comes twice marks none', async () => {
  let pages = 0
  const one = await openPullBench({
    companies: all,
    before: ({ cursor, pageSize, search }) => {
      if (pageSize !== 50 || cursor === undefined) return undefined
      pages += 1
      return pages === 4 ? { companies: all.slice(0, 50), cursor: cursorAt(50, 50, search) } : undefined
    },
  })
  await pull(one, { pageSize: 50 })
  expect((await pull(one, { pageSize: 50 })).summary.gone).toBeUndefined()
  expect(pages).toBeGreaterThan(4)
  expect(await count(one)).toBe(100)
})

test('a pull of some days marks none, nor one of a search by date', async () => {
  const one = await pulled()
  one.fake.hold(without(all, 5))
  expect((await pull(one, { since: '2025-01-01' })).summary.gone).toBeUndefined()
  expect((await pull(one, { until: '2026-12-31' })).summary.gone).toBeUndefined()
  expect((await pull(one, { since: 'last' })).summary.gone).toBeUndefined()
  const dated = { CountryCode: ['SE'], ContentUpdatedAt: ['2026-01-01'] }
  expect((await pull(one, { search: dated })).summary.gone).toBeUndefined()
  expect(await count(one)).toBe(100)
})

test('a company is gone only where no search of the lake lists it', async () => {
  const one = await openPullBench({ companies: all })
  const active = { OperationalStatus: [10] }
  await pull(one)
  await pull(one, { search: active })
  // Number 4 is no longer active and stays in its country, number 8 has left.
  one.fake.hold(
    without(all, 4, 8)
      .concat(company(4, { status: 50 }))
      .sort((a, b) => a.id - b.id),
  )
  await pull(one, { search: active })
  expect(await gone(one)).toEqual([8])
  const asked = one.fake.pages.filter(({ search }) => 'InternalId' in search).map(({ search }) => search)
  expect(asked).toEqual([
    { InternalId: [4, 8] },
    { OperationalStatus: [10], InternalId: [4] },
    { CountryCode: ['SE'], InternalId: [4] },
  ])
  // Without another search that has it, it is gone.
  const alone = await openPullBench({ companies: all })
  await pull(alone, { search: active })
  alone.fake.hold(
    without(all, 4)
      .concat(company(4, { status: 50 }))
      .sort((a, b) => a.id - b.id),
  )
  await pull(alone, { search: active })
  expect(await gone(alone)).toEqual([4])
})

test('a lake whose service cannot be asked is loaded all the same, and marks none', async () => {
  const one = await pulled(({ search }) => ('InternalId' in search ? { refuse: 'No.' } : undefined))
  one.fake.hold(without(all, 2))
  const { summary } = await pull(one)
  expect(summary.snapshot?.snapshot).toBe(2)
  expect(summary.gone).toMatchObject([
    { marked: 0, reason: expect.stringContaining('the service could not be asked for them') },
  ])
  expect(await count(one)).toBe(100)
})

test('a run that loaded a company meanwhile keeps it shown', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  const one = await pulled(async ({ search }) => {
    if (!('InternalId' in search)) return undefined
    const work = meanwhile
    meanwhile = undefined
    await work?.()
    return undefined
  })
  one.fake.hold(without(all, 2, 3))
  meanwhile = async () => {
    one.fake.hold(without(all, 3))
    await pull(one, { search: { InternalId: [2] } })
    one.fake.hold(without(all, 2, 3))
  }
  const { summary } = await pull(one)
  expect(summary.gone).toMatchObject([{ marked: 1 }])
  expect(await gone(one)).toEqual([3])
})

test('a compaction keeps who is gone, and forgets who came back', async () => {
  const one = await pulled()
  one.fake.hold(without(all, 7, 50))
  await pull(one)
  one.fake.hold(without(all, 50))
  await pull(one)
  await compact({ lake: one.lake })
  const { partitions, merged = [] } = await one.snapshot()
  expect(partitions.map(({ source, counts }) => [source.kind, counts.rows])).toEqual([
    ['compaction', expect.objectContaining({ companies: 100 })],
    ['listing', { listings: 1 }],
  ])
  expect(merged.map(({ source }) => source.kind)).toEqual(['search', 'search', 'listing', 'search'])
  expect(await gone(one)).toEqual([50])
  expect(await count(one)).toBe(99)
  expect(await count(one, 'companies_all')).toBe(100)
  expect((await compact({ lake: one.lake })).kind).toBe('nothing')
  one.fake.hold(all)
  await sync(one)
  await compact({ lake: one.lake })
  expect((await one.snapshot()).partitions.map(({ source }) => source.kind)).toEqual(['compaction'])
  expect(await count(one)).toBe(100)
  expect((await verify(one.lake)).problems).toEqual([])
})

test('a pull that is stopped while it asks marks them when it is resumed, and what a crash left is removed', async () => {
  const stop = new AbortController()
  const one = await pulled(({ search }) => {
    if ('InternalId' in search) stop.abort()
    return undefined
  })
  one.fake.hold(without(all, 7))
  await expect(pull(one, {}, { signal: stop.signal })).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(await count(one)).toBe(100)
  expect(await one.runs()).toHaveLength(1)
  const { summary } = await pull(one)
  expect(summary.gone).toMatchObject([{ marked: 1 }])
  expect(await gone(one)).toEqual([7])
  // As a process leaves it that is killed between the file and the commit.
  const [file] = (await one.snapshot()).partitions.flatMap(({ files }) => files.filter(isListing))
  const left = join(one.lake, `listings/load=${summary.run}/listings-0000000000000000.parquet`)
  await copyFile(join(one.lake, file?.path ?? ''), left)
  expect((await verify(one.lake)).problems).toEqual([])
  await gc({ lake: one.lake })
  expect(existsSync(left)).toBe(false)
  expect(await gone(one)).toEqual([7])
})

test('a listing of one service says nothing of the companies of another one', async () => {
  const one = await pulled()
  const other = await openPullBench({ companies: without(all, 7) })
  const { summary } = await pull(other, {}, { lake: one.lake })
  const reason = `the lake has companies of ${one.service.origin} too, of which ${other.service.origin} may know nothing`
  expect(summary.gone).toEqual([{ search: '{"CountryCode":["SE"]}', marked: 0, reason }])
  expect(await count(one)).toBe(100)
})

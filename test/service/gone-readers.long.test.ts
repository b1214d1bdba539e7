/** Readers that keep something of their own after a pull has marked companies as gone: published tables, a server, a diff. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { diff } from '../../src/jobs/diff.ts'
import { query } from '../../src/jobs/query.ts'
import { syncSearch } from '../../src/jobs/sync.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { publishCurrent, shownRows } from '../publish/current-lake.ts'
import { verify } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { FakeCompany } from './fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from './pull-bench.ts'
import { openServer, TOKEN } from './serving.ts'

const companies = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: at + 1, country: 'SE', lineItem: 'NetSales' },
    dates: { ContentUpdatedAt: '2026-01-01' },
  }))
const without = (all: readonly FakeCompany[], ...ids: number[]): FakeCompany[] =>
  all.filter(({ id }) => !ids.includes(id))

const sync = (one: PullBench) =>
  syncSearch(
    one.fake.url,
    { search: SWEDEN },
    { lake: one.lake, service: one.service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 } },
  )

test('published tables of current rows lose companies that are gone, and get them back', async () => {
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  const session = await engine.connect()
  onTestFinished(() => {
    session.close()
    engine.close()
  })
  const all = companies(100)
  const one = await openPullBench({ companies: all })
  const counts = async (): Promise<unknown> => {
    await publishCurrent(one.lake)
    const found: Record<string, number[]> = {}
    for (const table of TABLES.filter(({ name }) => ['companies', 'financials'].includes(name)))
      for (const [format, sql] of Object.entries(await shownRows(one.lake, table))) {
        const [row] = await session.rows(`SELECT count(*) AS n FROM (${sql})`)
        found[format] = [...(found[format] ?? []), Number(row?.n)]
      }
    const numbers = await query({ lake: one.lake, sql: 'SELECT count(*) AS n FROM companies' })
    return { ...found, numbers: numbers.map(({ n }) => n) }
  }
  const both = (rows: number) => ({ delta: [rows, rows], iceberg: [rows, rows], numbers: [rows] })
  await one.pull()
  expect(await counts()).toEqual(both(100))
  one.fake.hold(without(all, 7, 50))
  await one.pull()
  expect(await counts()).toEqual(both(98))
  // Only a listing comes: nothing is loaded that supersedes rows.
  one.fake.hold(without(all, 7, 50, 51))
  await sync(one)
  expect(await counts()).toEqual(both(97))
  await compact({ lake: one.lake })
  expect(await counts()).toEqual(both(97))
  one.fake.hold(without(all, 7))
  await one.pull()
  expect(await counts()).toEqual(both(99))
  expect((await verify(one.lake)).problems).toEqual([])
})

test('a server that follows a lake does not serve companies that are gone', async () => {
  const all = companies(100)
  const one = await openPullBench({ companies: all })
  await one.pull()
  const server = await openServer(one.lake, { follow: { everyMs: 10, onFollowError: () => undefined } })
  onTestFinished(() => server.close())
  const served = async (snapshot: number): Promise<readonly number[]> => {
    while (server.snapshot < snapshot) await setTimeout(5)
    const response = await fetch(`${server.address}/v2/companies`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ SearchParameters: { CountryCode: ['SE'] }, PageSize: 500, Cursor: '*' }),
    })
    const body = (await response.json()) as { Companies: { BasicDetails: { InternalId: number } }[] }
    const ids = body.Companies.map(({ BasicDetails }) => BasicDetails.InternalId)
    expect(JSON.parse(response.headers.get('X-Pagination') ?? '{}').TotalCount).toBe(ids.length)
    return ids.sort((a, b) => a - b)
  }
  expect(await served(1)).toHaveLength(100)
  const left = without(all, 7, 50)
  one.fake.hold(left)
  // Nothing is loaded: the new segment of the index has no record.
  await sync(one)
  expect(await served(2)).toEqual(left.map(({ id }) => id))
  one.fake.hold(without(all, 50))
  await one.pull({ search: { InternalId: [7] } })
  expect(await served(3)).toEqual(without(all, 50).map(({ id }) => id))
})

test('a diff says which companies are gone, and takes those that come back for new', async () => {
  const all = companies(100)
  const one = await openPullBench({ companies: all })
  await one.pull()
  one.fake.hold(without(all, 7, 50))
  await sync(one)
  const first = await diff({ lake: one.lake })
  expect(first.companies).toEqual({ new: 0, changed: 0, gone: 2, currencyChanged: 0 })
  expect(
    first.rows.map((row) => [row.kind, row.change, row.internal_id, row.country_code, row.company_name]),
  ).toEqual([
    ['company', 'gone', 7, 'SE', 'Company 7'],
    ['company', 'gone', 50, 'SE', 'Company 50'],
  ])
  await compact({ lake: one.lake })
  expect((await diff({ lake: one.lake, from: 2 })).rows).toEqual([])
  one.fake.hold(without(all, 50))
  await sync(one)
  const back = await diff({ lake: one.lake })
  expect(back.companies).toEqual({ new: 1, changed: 0, gone: 0, currencyChanged: 0 })
  expect(back.rows).toMatchObject([{ change: 'new', internal_id: 7 }])
})

test('a database that is fed from the lake loses companies that are gone, and gets them back', async () => {
  const all = companies(100)
  const one = await openPullBench({ companies: all })
  const file = join(await temporaryFolder(), 'firms.duckdb')
  const folder = `csv:${await temporaryFolder()}`
  const counts = async (sinks: readonly string[]): Promise<unknown> => {
    await deliver({ lake: one.lake, sinks })
    const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(file)} AS firms (READ_ONLY)`)
    const [row] = await session.rows(`SELECT (SELECT count(*) FROM firms.companies)::INTEGER AS companies,
  (SELECT count(*) FROM firms.financials)::INTEGER AS financials, (SELECT list(internal_id) FROM firms.listings)::VARCHAR AS gone`)
    session.close()
    engine.close()
    return row
  }
  await one.pull()
  await deliver({ lake: one.lake, sinks: [file] })
  one.fake.hold(without(all, 7, 50))
  await sync(one)
  expect(await counts([file, folder])).toEqual({ companies: 98, financials: 98, gone: '[7, 50]' })
  one.fake.hold(without(all, 50))
  await sync(one)
  expect(await counts([file])).toEqual({ companies: 99, financials: 99, gone: '[50]' })
  // One that has nothing yet gets a lake that was compacted.
  await compact({ lake: one.lake })
  await rm(file)
  expect(await counts([file])).toEqual({ companies: 99, financials: 99, gone: '[50]' })
})

test('lake.duckdb shows the same companies as query', async () => {
  const all = companies(100)
  const one = await openPullBench({ companies: all })
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  const shown = async (): Promise<unknown> => {
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(join(one.lake, 'lake.duckdb'))} AS lake (READ_ONLY); USE lake`)
    const sql = `SELECT (SELECT count(*) FROM companies)::INTEGER, (SELECT count(*) FROM financials)::INTEGER,
  (SELECT count(*) FROM companies_all)::INTEGER, (SELECT count(gone_since) FROM companies_all)::INTEGER,
  (SELECT list(internal_id ORDER BY internal_id) FROM listings)::VARCHAR,
  (SELECT count(*) FROM companies_history WHERE is_current)::INTEGER`
    const [row = {}] = await session.rows(sql)
    await session.run('USE memory; DETACH lake')
    session.close()
    expect(await one.query(sql)).toEqual([Object.values(row)])
    return Object.values(row)
  }
  await one.pull()
  expect(await shown()).toEqual([100, 100, 100, 0, null, 100])
  one.fake.hold(without(all, 7, 50))
  await sync(one)
  expect(await shown()).toEqual([98, 98, 100, 2, '[7, 50]', 98])
  one.fake.hold(without(all, 50))
  await one.pull()
  expect(await shown()).toEqual([99, 99, 100, 1, '[50]', 99])
  await compact({ lake: one.lake })
  expect(await shown()).toEqual([99, 99, 100, 1, '[50]', 99])
})

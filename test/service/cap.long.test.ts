/** Searches beyond the cap of a cursor chain, through the plan, and the real cap, on the real server. */

import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncSearch } from '../../src/jobs/sync.ts'
import { openBench, queryLake, verify } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  ALL_TABLES,
  COMPANIES,
  follow,
  loadCompanies,
  makeServable,
  pullFrom,
  rowsOf,
  SEARCH,
  serving,
} from './serving.ts'

const folders: string[] = []
const newBench = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  folders.push(folder)
  return openBench(folder)
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

test('a search beyond the cap is pulled whole through the plan, and a syncSearch finds nothing to do', async () => {
  const bench = await newBench()
  await loadCompanies(bench)
  const served = bench.lake
  const cap = 25
  const from = await serving(served, { cursorCap: cap })
  const lake = join(await temporaryFolder(), 'lake')
  const companies = await pullFrom(from, lake, { cap })
  expect(companies.windows.length).toBeGreaterThan(2)
  expect(companies.entry).toMatchObject({ announced: COMPANIES, planned: COMPANIES, received: COMPANIES })
  const relations = await pullFrom(from, lake, {
    ...{ content: 'relations', currency: undefined, cap, by: 'RelationsUpdatedAt' },
    search: { InternalId: Array.from({ length: COMPANIES }, (_, at) => at + 1) },
  })
  expect(relations.entry).toMatchObject({ announced: COMPANIES, received: COMPANIES })
  expect(await rowsOf(lake, ALL_TABLES)).toEqual(await rowsOf(served, ALL_TABLES))
  expect((await verify(lake)).problems).toEqual([])
  const { findings } = await syncSearch(
    from.url,
    { search: SEARCH, currency: 'USD' },
    { lake, service: from.service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 } },
  )
  expect(findings).toEqual({
    ...{ listed: COMPANIES, unchanged: COMPANIES },
    ...{ new: [], changed: [], vanished: [] },
  })
})

/** Minutes of work: in CI, or where it is asked for. */
const isBig = Boolean(process.env.CI) || process.env.FIRMLAKE_BIG === '1'
const BIG = { SE: 100_000, NO: 150_000 } as const

describe('with the real cap', () => {
  let served = ''
  const bigTest = (name: string, body: () => Promise<void>): void => {
    test(name, { timeout: 600_000 }, async ({ skip }) => {
      if (!isBig) skip('250,000 companies take minutes; CI runs it, and FIRMLAKE_BIG=1 does')
      await body()
    })
  }

  beforeAll(async () => {
    if (!isBig) return
    const bench = await newBench()
    served = bench.lake
    const lines = function* (): Generator<string> {
      const all = BIG.SE + BIG.NO
      for (let id = 1; id <= all; id += 1) {
        const day = new Date(Date.UTC(2025, 0, 1 + (id % 300))).toISOString().slice(0, 10)
        const country = id <= BIG.SE ? 'SE' : 'NO'
        yield `{"BasicDetails":{"InternalId":${id},"CountryCode":"${country}"},"MetaData":{"CurrentCurrencyCode":"USD","FinancialFigureScale":"None","ContentUpdatedAt":"${day}T00:00:00"}}\n`
      }
    }
    await pipeline(Readable.from(lines()), createWriteStream(join(bench.folder, 'companies.jsonl')))
    await bench.run(['companies.jsonl'])
    await makeServable(served)
  }, 600_000)

  bigTest('a chain of 100,000 ends exactly at the cap, one of 150,000 is refused there', async () => {
    const { service } = await serving(served)
    expect(await follow(service, { CountryCode: ['SE'] }, 500)).toEqual({ delivered: BIG.SE, end: 'null' })
    expect(await follow(service, { CountryCode: ['NO'] }, 500)).toEqual({
      delivered: 100_000,
      end: 'CURSOR_CAP',
    })
  })

  bigTest('a search of 250,000 is pulled whole through the plan', async () => {
    const from = await serving(served)
    const lake = join(await temporaryFolder(), 'lake')
    const search = { CountryCode: Object.keys(BIG) }
    const { entry, windows } = await pullFrom(from, lake, { search, pageSize: 500 })
    expect(entry).toMatchObject({ announced: 250_000, planned: 250_000, received: 250_000 })
    expect(Math.max(...windows.map(({ received }) => received))).toBeLessThanOrEqual(100_000)
    const counted = 'SELECT count(*), count(DISTINCT internal_id), sum(internal_id)::BIGINT FROM companies'
    expect(await queryLake(lake, counted)).toEqual(await queryLake(served, counted))
  })
})

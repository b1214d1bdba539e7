/** Live answers, listings and files beside each other: what was said last is current, by the clock of the service. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { pull } from '../../../src/jobs/pull.ts'
import { sync } from '../../../src/jobs/sync.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const company = (id: number, name: string, updated = '2026-01-01'): FakeCompany => ({
  ...{ id, name, country: 'SE', status: 10, lineItem: 'NetSales' },
  dates: { ContentUpdatedAt: updated },
})

/** A service whose clock is set, and a lake. */
const bench = async (companies: readonly FakeCompany[]) => {
  const state = { now: '2026-06-15T06:00:00Z' }
  const one = await openPullBench({ companies, now: () => state.now })
  const folder = await temporaryFolder()
  const asked = { from: one.service, lake: one.lake, search: SWEDEN, maxGone: '100%' } as const
  return {
    ...one,
    at: (now: string, ...held: readonly FakeCompany[]): void => {
      state.now = now
      one.fake.hold(held)
    },
    pull: () => pull({ ...asked, content: 'companies' }),
    sync: () => sync(asked),
    /** A file as of its stamp. */
    file: async (id: number, name: string, stamp: string) => {
      const record = {
        BasicDetails: { InternalId: id, CompanyName: name, CountryCode: 'SE' },
        MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None', OwnersUpdatedAt: stamp },
      }
      const path = join(folder, `${id}-${stamp.replaceAll(':', '')}.jsonl`)
      await writeFile(path, `${JSON.stringify(record)}\n`)
      return convert({ from: path, lake: one.lake })
    },
  }
}

const shown = (one: Pick<PullBench, 'query'>, view = 'companies'): Promise<unknown> =>
  one.query(`SELECT internal_id, company_name FROM ${view} ORDER BY 1`)

test('a file of the evening is newer than the pull of the morning, and older than that of the next one', async () => {
  const one = await bench([company(1, 'morning')])
  await one.pull()
  await one.file(1, 'night before', '2026-06-14T22:00:00Z')
  expect(await shown(one)).toEqual([[1, 'morning']])
  await one.file(1, 'evening', '2026-06-15T18:00:00Z')
  expect(await shown(one)).toEqual([[1, 'evening']])
  one.at('2026-06-16T06:00:00Z', company(1, 'next morning'))
  await one.pull()
  expect(await shown(one)).toEqual([[1, 'next morning']])
  expect(
    await one.query('SELECT company_name, as_of::VARCHAR FROM companies_history ORDER BY as_of'),
  ).toEqual([
    ['night before', '2026-06-14 22:00:00+00'],
    ['morning', '2026-06-15 06:00:00+00'],
    ['evening', '2026-06-15 18:00:00+00'],
    ['next morning', '2026-06-16 06:00:00+00'],
  ])
})

test('a company that is gone stays gone when an older file comes, and is back with an answer of old stamps', async () => {
  const one = await bench([company(1, 'one'), company(2, 'two')])
  await one.pull()
  one.at('2026-06-16T06:00:00Z', company(1, 'one'))
  expect((await one.pull()).gone).toMatchObject([{ marked: 1 }])
  await one.file(2, 'late', '2026-06-15T20:00:00Z')
  await one.file(2, 'earlier still', '2026-06-10T20:00:00Z')
  expect(await shown(one)).toEqual([[1, 'one']])
  expect(await shown(one, 'companies_all')).toEqual([
    [1, 'one'],
    [2, 'late'],
  ])
  expect(await shown(one, '(SELECT internal_id, service AS company_name FROM listings)')).toHaveLength(1)
  one.at('2026-06-17T06:00:00Z', company(1, 'one'), company(2, 'back', '2020-01-01'))
  await one.pull()
  expect(await shown(one)).toEqual([
    [1, 'one'],
    [2, 'back'],
  ])
  expect(await one.query('FROM listings')).toEqual([])
})

test('a service that went back in time is current, and the sync of the night after fetches nothing again', async () => {
  const one = await bench([company(1, 'newer', '2026-06-14'), company(2, 'same', '2026-06-01')])
  await one.pull()
  one.at('2026-06-16T06:00:00Z', company(1, 'restored', '2026-05-01'), company(2, 'same', '2026-06-01'))
  expect((await one.sync()).sync.fetched).toBe(1)
  expect(await shown(one)).toEqual([
    [1, 'restored'],
    [2, 'same'],
  ])
  one.at('2026-06-17T06:00:00Z', company(1, 'restored', '2026-05-01'), company(2, 'same', '2026-06-01'))
  expect((await one.sync()).sync.fetched).toBe(0)
})

test('a live answer that is older than the lake says by how much the clocks differ', async () => {
  const one = await bench([company(1, 'answer')])
  await one.file(1, 'of a clock ahead', '2026-06-15T09:00:00Z')
  const { older } = await one.pull()
  expect(older).toMatchObject([
    {
      asOf: '2026-06-15T06:00:00.000Z',
      than: '2026-06-15T09:00:00.000Z',
      older: 1,
      records: 1,
      isLive: true,
    },
  ])
  expect(await shown(one)).toEqual([[1, 'of a clock ahead']])
})

test('a company stays gone for a file that is older than the last listing without it', async () => {
  const one = await bench([company(1, 'one'), company(2, 'two')])
  await one.pull()
  one.at('2026-06-16T06:00:00Z', company(1, 'one'))
  await one.pull()
  one.at('2026-06-18T06:00:00Z', company(1, 'one, later'))
  expect((await one.pull()).gone).toBeUndefined()
  expect((await one.file(2, 'between the listings', '2026-06-17T06:00:00Z')).older).toMatchObject([
    { older: 1 },
  ])
  expect(await shown(one)).toEqual([[1, 'one, later']])
  await one.file(2, 'behind them', '2026-06-18T07:00:00Z')
  expect(await shown(one)).toEqual([
    [1, 'one, later'],
    [2, 'behind them'],
  ])
})

/** Questions by date: what is right is worked out from the deliveries, whatever the order of loads. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { pull } from '../../src/jobs/pull.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { createService } from '../../src/source/service/service.ts'
import { queryLake } from '../run/batch-bench.ts'
import { openFakeService } from '../service/fake-service.ts'

const dayOf = (day: number): string => `2026-01-${String(day).padStart(2, '0')}`
const instantOf = (day: number): string => `${dayOf(day)}T00:00:00.000Z`

/** What the service said of some companies on a day: net sales by id. A listing lacks the others. */
interface Said {
  readonly kind: 'listing' | 'file'
  readonly day: number
  readonly sales: Readonly<Record<number, number>>
}

/** In the order of loads. Company 2 leaves, and comes back otherwise; files of days 5 and 15 come late. */
const STORY: readonly Said[] = [
  { kind: 'listing', day: 1, sales: { 1: 10, 2: 20, 3: 30 } },
  { kind: 'listing', day: 10, sales: { 1: 11, 3: 30 } },
  { kind: 'file', day: 5, sales: { 1: 10, 2: 25, 3: 31 } },
  { kind: 'listing', day: 20, sales: { 1: 11, 2: 26, 3: 30, 4: 40 } },
  { kind: 'file', day: 15, sales: { 1: 12, 4: 40 } },
  { kind: 'listing', day: 25, sales: { 1: 11, 2: 26, 3: 33, 4: 41 } },
]
const IDS = [1, 2, 3, 4]

/** What had been said last of a company by the end of a day; undefined where that is that it is not listed, or nothing. */
const lastSaid = (story: readonly Said[], id: number, day: number): Said | undefined => {
  const about = story
    .filter((one) => one.day <= day && (id in one.sales || one.kind === 'listing'))
    .toSorted((a, b) => a.day - b.day)
    .at(-1)
  return about !== undefined && id in about.sales ? about : undefined
}
const shownOn = (story: readonly Said[], day: number) =>
  IDS.flatMap((id) => {
    const one = lastSaid(story, id, day)
    return one === undefined ? [] : [[id, `of ${one.day}`, one.sales[id]]]
  })

let folder: string
let lake: string
/** When each load was committed. */
const commits: string[] = []

const load = async (
  { kind, day, sales }: Said,
  service: {
    readonly says: (day: number, one: Said) => void
    readonly from: Parameters<typeof pull>[0]['from']
  },
): Promise<void> => {
  if (kind === 'listing') {
    service.says(day, { kind, day, sales })
    await pull({
      from: service.from,
      lake,
      search: { CountryCode: ['SE'] },
      content: 'companies',
      maxGone: '100%',
    })
    return
  }
  const records = Object.entries(sales).map(([id, value]) => ({
    BasicDetails: { InternalId: Number(id), CompanyName: `of ${day}`, CountryCode: 'SE' },
    MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
    Financials: { ProfitAndLoss: { NetSales: { 2023: value } } },
  }))
  await convert({
    from: fromRecords(`${day}`, records, { asOf: instantOf(day) }),
    lake,
    content: 'companies',
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  let now = instantOf(1)
  const fake = await openFakeService({ companies: [], now: () => now })
  const from = createService({
    ...{ url: fake.url, token: fake.token, now: fake.clock },
    ...{ maxRequestsPerSecond: 5000, trustClock: true },
  })
  const says = (day: number, { sales }: Said): void => {
    now = instantOf(day)
    fake.hold(
      Object.entries(sales).map(([id, value]) => ({
        ...{ id: Number(id), value, name: `of ${day}`, country: 'SE', lineItem: 'NetSales' },
        dates: { ContentUpdatedAt: dayOf(day) },
      })),
    )
  }
  for (const one of STORY) {
    await load(one, { says, from })
    commits.push((await readSnapshot(lake)).time)
  }
  await from.close()
  await fake.close()
})

afterAll(() => rm(folder, { recursive: true }))

const DAYS = [1, 4, 5, 9, 10, 14, 15, 19, 20, 24, 25, 31]
const rows = (sql: string) => queryLake(lake, sql)

test.each(DAYS)('figures_as_of and companies_as_of are what had been said by day %i', async (day) => {
  const sql = `SELECT internal_id, company_name, value FROM figures_as_of('${dayOf(day)}') ORDER BY ALL`
  expect(await rows(sql)).toEqual(shownOn(STORY, day))
  expect(
    await rows(`SELECT internal_id, company_name FROM companies_as_of(DATE '${dayOf(day)}') ORDER BY ALL`),
  ).toEqual(shownOn(STORY, day).map((row) => row.slice(0, 2)))
})

test('a day is its end in UTC, a time that instant', async () => {
  const names = (instant: string) =>
    rows(`SELECT DISTINCT company_name FROM figures_as_of(${instant}) WHERE internal_id = 1`)
  expect(await names(`'${dayOf(9)}'`)).toEqual([['of 5']])
  for (const before of [
    `'${dayOf(9)} 23:59:59'`,
    `TIMESTAMP '${dayOf(9)} 23:59:59'`,
    `'${dayOf(10)}T00:59:59+01:00'`,
  ])
    expect([before, await names(before)]).toEqual([before, [['of 5']]])
  for (const then of [
    `'${dayOf(10)}T00:00'`,
    `TIMESTAMPTZ '${dayOf(10)} 01:00:00+01'`,
    `'${dayOf(10)}T00:00:00Z'`,
  ])
    expect([then, await names(then)]).toEqual([then, [['of 10']]])
  for (const wrong of [`'soon'`, `'2026-02-30'`, 'NULL'])
    await expect(names(wrong)).rejects.toThrow('expected a day such as 2026-03-31')
})

test('figures_as_known and companies_as_known are what the lake showed after each load', async () => {
  const LAST = 31
  for (const [at, time] of commits.entries()) {
    const known = shownOn(STORY.slice(0, at + 1), LAST)
    const sql = `SELECT internal_id, company_name, value FROM figures_as_known('${time}') ORDER BY ALL`
    expect([at, await rows(sql)]).toEqual([at, known])
    expect(
      await rows(`SELECT internal_id, company_name FROM companies_as_known('${time}') ORDER BY ALL`),
    ).toEqual(known.map((row) => row.slice(0, 2)))
  }
  expect(await rows(`FROM figures_as_known(TIMESTAMPTZ '${commits[0]}' - INTERVAL 1 SECOND)`)).toEqual([])
})

test('first_reported has the first value that was said, and the newest one beside it', async () => {
  const expected = IDS.map((id) => {
    const said = STORY.filter(({ sales }) => id in sales).toSorted((a, b) => a.day - b.day)
    const [first, newest] = [said[0]?.sales[id] ?? 0, said.at(-1)?.sales[id] ?? 0]
    return [id, first, instantOf(said[0]?.day ?? 0), newest, (100 * (newest - first)) / first, true]
  })
  expect(
    await rows(
      'SELECT internal_id, first_value, first_as_of, newest_value, percent, is_current FROM first_reported ORDER BY 1',
    ),
  ).toEqual(expected)
})

test('restatements say when this lake knew of them, and whether the new figure still counts', async () => {
  // Of each company its versions in the order in which they were said, with the load that brought each.
  const expected = IDS.flatMap((id) => {
    const own = STORY.map((one, at) => ({ ...one, at }))
      .filter(({ sales }) => id in sales)
      .toSorted((a, b) => a.day - b.day)
    return own.slice(1).flatMap((one, at) => {
      const before = own[at]
      const [old, value] = [before?.sales[id], one.sales[id]]
      if (before === undefined || old === value) return []
      const isLast = own.slice(at + 2).every(({ sales }) => sales[id] === value)
      return [[id, one.day, old, value, commits[Math.max(before.at, one.at)], isLast]]
    })
  })
  expect(expected.length).toBeGreaterThan(6)
  expect(
    await rows(
      `SELECT internal_id, replace(company_name, 'of ', '')::INTEGER AS day, old_value, new_value, known_since, is_current FROM restatements ORDER BY 1, 2`,
    ),
  ).toEqual(expected)
  expect(
    await rows(
      `SELECT internal_id, old_value, new_value, known_since, is_current FROM company_changes WHERE column_name = 'company_name' AND internal_id = 1 ORDER BY replace(new_value, 'of ', '')::INTEGER`,
    ),
  ).toEqual([
    [1, 'of 1', 'of 5', commits[2], false],
    [1, 'of 5', 'of 10', commits[2], false],
    [1, 'of 10', 'of 15', commits[4], false],
    [1, 'of 15', 'of 20', commits[4], false],
    [1, 'of 20', 'of 25', commits[5], true],
  ])
})

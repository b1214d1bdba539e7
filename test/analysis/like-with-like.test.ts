/**
 * Random companies of several currencies, consolidations and lengths of years, some of which come again with other figures: what the
 * views, the explorer's list and its peers say of them is what the records say, worked out here one by one.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { openQuery } from '../../src/jobs/query.ts'
import type { LakeQuery } from '../../src/lake/query/lake-query.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { openBrowsing } from '../server/explorer/explorer-lake.ts'
import { someRows } from '../support/same-rows.ts'
import { type Figure, growthOf, latestOf, valueIn, whyNot } from './expected.ts'
import { AGAIN, COUNTED, CURRENT, FIGURES, FIRST, YEARS } from './unlike-companies.ts'

let folder: string
let lake: string
let opened: LakeQuery
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await convert({ from: [fromRecords('first', FIRST)], lake })
  await convert({ from: [fromRecords('again', AGAIN)], lake, changeCurrency: true })
  opened = await openQuery({ lake })
})
afterAll(async () => {
  opened.close()
  await rm(folder, { recursive: true, force: true })
})

const ask = async (sql: string) => readRows(await opened.run(sql))
/** Rows in an order of their own, numbers without their last digits: the order of a product is not the same everywhere. */
const same = (rows: readonly object[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(
        Object.values(row).map((cell) =>
          typeof cell === 'number' ? Number(cell.toPrecision(12)) : (cell ?? null),
        ),
      ),
    )
    .sort()
const isMoney = ({ category }: Figure): boolean => ['ProfitAndLoss', 'BalanceSheet'].includes(category)

test('figures has one figure a company, year and line item, of the preferred statement', async () => {
  const found = await ask(
    'SELECT internal_id, fiscal_year, line_item, value, currency, consolidation, months FROM figures',
  )
  const expected = COUNTED.map((one) => [
    ...[
      one.id,
      one.year,
      one.item,
      one.value,
      isMoney(one) ? one.currency : null,
      one.consolidation,
      one.months,
    ],
  ])
  expect(same(found)).toEqual(same(expected))
  expect(new Set(COUNTED.map(({ id, year, item }) => `${id} ${year} ${item}`)).size).toBe(COUNTED.length)
  expect(FIGURES.length - COUNTED.length).toBeGreaterThan(200)
})

test('statements has each statement of a company and year, and one preferred', async () => {
  const found = await ask(
    'SELECT internal_id, fiscal_year, consolidation, months, figures, is_preferred FROM statements',
  )
  const all = [
    ...Map.groupBy(FIGURES, ({ id, year, consolidation }) => `${id} ${year} ${consolidation}`).values(),
  ]
  const expected = all.map((own) => [
    ...[own[0]?.id, own[0]?.year, own[0]?.consolidation, own[0]?.months],
    own.filter(({ item }) => item !== 'FiscalYearLength').length,
    own[0]?.isPreferred,
  ])
  expect(same(found)).toEqual(same(expected))
  expect(found.filter(({ is_preferred }) => is_preferred === true)).toHaveLength(
    new Set(FIGURES.map(({ id, year }) => `${id} ${year}`)).size,
  )
})

test('figures_in adds up to the sum in one currency', async () => {
  for (const year of YEARS) {
    const own = COUNTED.filter((one) => one.item === 'NetSales' && one.year === year)
    const [found] = await ask(
      `SELECT sum(value) AS total, count(*) AS n FROM figures_in('EUR') WHERE line_item = 'NetSales' AND fiscal_year = ${year}`,
    )
    expect(found?.n).toBe(own.length)
    expect(Number(found?.total)).toBeCloseTo(
      own.reduce((sum, one) => sum + (valueIn(one, 'EUR') ?? Number.NaN), 0),
      3,
    )
  }
})

test.each(['NetSales', 'TotalAssets', 'EBITMargin'])('growth of %s compares like with like', async (item) => {
  const found = await ask(`SELECT internal_id, fiscal_year, growth, reason FROM growth('${item}')`)
  const expected = growthOf(FIGURES, item)
  expect(same(found)).toEqual(same(expected))
  someRows(
    expected.filter(({ growth }) => growth !== null),
    'growths',
  )
  if (item === 'NetSales')
    for (const reason of ['length differs', 'consolidation differs', 'previous value is 0'])
      someRows(
        expected.filter((one) => one.reason === reason),
        reason,
      )
})

test('growth has flows for twelve months beside them', async () => {
  const found = await ask(
    "SELECT DISTINCT value * 12 / months = per_12_months AS same FROM growth('NetSales') WHERE months > 0",
  )
  expect(found).toEqual([{ same: true }])
  expect(await ask("SELECT count(per_12_months) AS n FROM growth('TotalAssets')")).toEqual([{ n: 0 }])
})

test('cagr compares like with like', async () => {
  const own = FIGURES.filter(({ item }) => item === 'NetSales')
  const expected = own.flatMap((last) => {
    const before = own.filter(({ id, year }) => id === last.id && year === 2020)
    if (!last.isPreferred || last.year !== 2022 || before.length === 0) return []
    const first = before.find(({ consolidation }) => consolidation === last.consolidation)
    const isRate = first !== undefined && first.value > 0 && last.value >= 0
    const isLike = whyNot(last, first) === undefined
    return [[last.id, isRate && isLike ? Math.sqrt(last.value / first.value) - 1 : null]]
  })
  someRows(
    expected.filter(([, cagr]) => cagr !== null),
    'rates',
  )
  expect(same(await ask("SELECT internal_id, cagr FROM cagr('NetSales', 2020, 2022)"))).toEqual(
    same(expected),
  )
})

test('latest_figures are all of one statement', async () => {
  const found = await ask(
    'SELECT internal_id, line_item, fiscal_year, consolidation, value FROM latest_figures',
  )
  expect(same(found)).toEqual(
    same(
      latestOf(FIGURES).map(({ id, item, year, consolidation, value }) => [
        id,
        item,
        year,
        consolidation,
        value,
      ]),
    ),
  )
})

test('latest_headcounts has one headcount a company: of the statement that counts, else the other', async () => {
  const expected = CURRENT.flatMap(({ BasicDetails, EnhancedDetails }) => {
    const id = Number(BasicDetails?.InternalId)
    const [group, own] = [EnhancedDetails?.Employees ?? {}, EnhancedDetails?.EmployeesUnconsolidated ?? {}]
    const [year] = [...Object.keys(group), ...Object.keys(own)].map(Number).toSorted((a, b) => b - a)
    if (year === undefined) return []
    const counted = COUNTED.find((one) => one.id === id && one.year === year)?.consolidation ?? 'Consolidated'
    const [first, second] = counted === 'Consolidated' ? [group, own] : [own, group]
    return [[id, year, first[year] ?? second[year]]]
  })
  const found = await ask('SELECT internal_id, fiscal_year, employees FROM latest_headcounts')
  expect(same(found)).toEqual(same(someRows(expected, 'headcounts')))
})

test('company_sector has the main industry, one a company', async () => {
  const found = await ask('SELECT internal_id, division FROM company_sector')
  const expected = CURRENT.map(({ BasicDetails }) => [
    ...[BasicDetails?.InternalId, BasicDetails?.IndustryCode?.IndustryCodes?.[0]?.Code?.slice(0, 2)],
  ])
  expect(same(found)).toEqual(same(expected))
})

/** The latest net sales of each company, with its other figures of that consolidation. */
const LATEST_SALES = [...Map.groupBy(COUNTED, ({ id }) => id)].flatMap(([id, all]) => {
  const [latest] = all.filter(({ item }) => item === 'NetSales').toSorted((a, b) => b.year - a.year)
  return latest === undefined ? [] : [{ id, latest, own: FIGURES.filter((one) => one.id === id) }]
})

const listed = ({ id, latest, own }: (typeof LATEST_SALES)[number]): unknown[] => {
  const of = (item: string, year: number): Figure | undefined =>
    own.find((one) => one.item === item && one.year === year && one.consolidation === latest.consolidation)
  const [before, ebit] = [of('NetSales', latest.year - 1), of('EBIT', latest.year)]
  const isLike = before !== undefined && before.value !== 0 && whyNot(latest, before) === undefined
  return [
    ...[id, latest.year, latest.currency, latest.value, latest.months],
    isLike ? (latest.value - before.value) / Math.abs(before.value) : null,
    ebit === undefined || latest.value === 0 ? null : ebit.value / latest.value,
  ]
}

test('the list of the explorer has growth and margin of one statement, and peers the nearest by latest net sales', async () => {
  const explorer = await openBrowsing(lake)
  const asked = async (name: string, parameters: object): Promise<Record<string, unknown>[]> => {
    const caller = { name: 'all', rights: 'everything' } as const
    const reply = await explorer.ask(name, parameters, caller, new AbortController().signal)
    if (reply.kind !== 'answer') throw new TypeError(`Cannot read rows of "${reply.kind}"`)
    return reply.rows.map((row) => Object.fromEntries(reply.columns.map((column, at) => [column, row[at]])))
  }
  const rows = await asked('browse', { most: 1000 })
  const found = rows
    .filter((row) => row.net_sales !== null)
    .map((row) => [
      row.internal_id,
      row.fiscal_year,
      row.currency,
      row.net_sales,
      row.months,
      row.growth,
      row.ebit_margin,
    ])
  expect(rows).toHaveLength(CURRENT.length)
  expect(same(found)).toEqual(same(LATEST_SALES.map(listed)))

  const divisionOf = new Map(
    CURRENT.map(({ BasicDetails }) => [
      Number(BasicDetails?.InternalId),
      BasicDetails?.IndustryCode?.IndustryCodes?.[0]?.Code?.slice(0, 2),
    ]),
  )
  const sized = LATEST_SALES.map(({ id, latest }) => ({ id, latest, eur: valueIn(latest, 'EUR') ?? 0 }))
  for (const { id, latest, eur } of sized.filter((one) => one.eur > 0).slice(0, 12)) {
    const near = sized
      .filter((one) => one.id !== id && one.eur > 0 && divisionOf.get(one.id) === divisionOf.get(id))
      .map((one) => {
        const months =
          latest.months === null || one.latest.months === null ? 1 : latest.months / one.latest.months
        const distance =
          Math.abs(Math.log((one.eur / eur) * months)) + (one.latest.country === latest.country ? 0 : 1)
        return { id: one.id, distance }
      })
      .toSorted((a, b) => a.distance - b.distance || a.id - b.id)
      .slice(0, 5)
      .map((one) => one.id)
    const peers = await ask(`SELECT internal_id FROM peers(${id}, 5) ORDER BY rank`)
    expect(peers.map((one) => one.internal_id)).toEqual(near)
    const shown = await asked('peers', { id })
    const byRank = shown.toSorted((a, b) => Number(a.rank) - Number(b.rank)).slice(1, 6)
    expect(byRank.map((one) => one.internal_id)).toEqual(near)
  }
  await explorer.close()
})

/** Every number of the explorer's pages against what is worked out here from the records, without a statement. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../../../src/jobs/convert.ts'
import type { AskExplorer } from '../../../../src/server/explorer/explorer.ts'
import { FRAGMENTS, PAGE_FILES, renderFor } from '../../../../src/server/explorer/pages/fragments.ts'
import { fromRecords } from '../../../../src/source/from-records.ts'
import { every, plain } from '../../../report/read-report.ts'
import { EVERYTHING, openBrowsing } from '../explorer-lake.ts'

const COUNTRIES = [
  ['SE', 'Sweden'],
  ['NO', 'Norway'],
  ['DE', 'Germany'],
] as const
const INDUSTRIES = [
  ['49.410', 'Freight by road'],
  ['62.010', 'Programming'],
] as const
const YEARS = [2021, 2022, 2023, 2024] as const
const COMPANIES = 60

interface Firm {
  readonly id: number
  readonly name: string
  readonly country: number
  readonly industry: number
  /** Thousands of EUR by year. */
  readonly sales: ReadonlyMap<number, number>
  readonly ebit: ReadonlyMap<number, number>
  readonly alone: ReadonlyMap<number, number>
  readonly employees: number
  /** Sales of 2024 before the second load. */
  readonly before?: number
}

const firms = Array.from({ length: COMPANIES }, (_, at): Firm => {
  const sales = new Map(YEARS.map((year, n) => [year, 1000 + 977 * at * at + 131 * n * (at % 7)]))
  return {
    ...{ id: 1001 + at, name: `Firm ${String.fromCharCode(65 + (at % 26))}${at}`, country: at % 3 },
    ...{ industry: at % 2, employees: 10 + at, sales },
    ebit: new Map(YEARS.map((year, n) => [year, 50 + 18 * at - 4 * n])),
    alone: new Map(at % 4 === 0 ? YEARS.map((year) => [year, 100 + at]) : []),
    ...(at < 5 && { before: 400 + at }),
  }
})

const record = (firm: Firm, isFirst: boolean): object => {
  const { id, name, country, industry, sales, ebit, alone, employees, before } = firm
  const [code, text] = INDUSTRIES[industry] ?? []
  const own = isFirst && before !== undefined ? new Map([...sales, [2024, before]]) : sales
  return {
    BasicDetails: {
      ...{ InternalId: id, CompanyName: name, CountryCode: COUNTRIES[country]?.[0], OperationalStatus: 10 },
      IndustryCode: { IndustryCodes: [{ Code: code, Text: text, Type: 'Nace' }] },
    },
    EnhancedDetails: { Employees: { 2024: employees } },
    MetaData: { CurrentCurrencyCode: 'EUR', FinancialFigureScale: 'Thousands' },
    Financials: { ProfitAndLoss: { NetSales: Object.fromEntries(own), EBIT: Object.fromEntries(ebit) } },
    ...(alone.size > 0 && {
      UnconsolidatedFinancials: { ProfitAndLoss: { NetSales: Object.fromEntries(alone) } },
    }),
  }
}

/** 1001 is owned by 1002 (60 %) and 1003 (25 to 40 %), 1002 by 1004 (50 %). */
const owner = (InternalId: number, stake: object): object => ({
  ...{ InternalId, Name: `Firm of ${InternalId}`, IsCompany: true, Ownerships: [stake] },
})
const relations = [
  {
    ...{ InternalId: 1001, Name: 'x', CountryCode: 'SE' },
    Parents: [
      owner(1002, { OwnershipStake: 60 }),
      owner(1003, { MinOwnershipStake: 25, MaxOwnershipStake: 40 }),
    ],
  },
  { InternalId: 1002, Name: 'y', CountryCode: 'NO', Parents: [owner(1004, { OwnershipStake: 50 })] },
]

let folder = ''
let opened: { readonly ask: AskExplorer; readonly close: () => Promise<void> }
const NEVER = new AbortController().signal

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  const lake = join(folder, 'lake')
  const all = firms.map((firm) => record(firm, true))
  await convert({ from: [fromRecords('first', all), fromRecords('relations', relations)], lake })
  const again = firms.filter(({ before }) => before !== undefined).map((firm) => record(firm, false))
  await convert({ from: [fromRecords('second', again)], lake })
  opened = await openBrowsing(lake)
})
afterAll(async () => {
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

const rendered = async <Content>(
  parts: Readonly<Record<string, Parameters<typeof renderFor<Content>>[0]>>,
  name: string,
  parameters: object,
): Promise<Content> => {
  const part = parts[name]
  if (part === undefined) throw new TypeError(`Cannot render "${name}"`)
  const reply = await renderFor(part, JSON.stringify(parameters), [opened.ask, EVERYTHING, NEVER])
  if (reply.kind !== 'content') throw new TypeError(`Cannot render "${name}": ${reply.kind}`)
  return reply.content
}
const htmlOf = async (name: string, parameters: object): Promise<string> =>
  (await rendered(FRAGMENTS, name, parameters)).text
const fileOf = async (name: string, parameters: object): Promise<string> =>
  String((await rendered(PAGE_FILES, name, parameters)).bytes)

/** Cells of the rows of a table's body, as a reader sees them. */
/** Without the marks for a comparison, which are before the names. */
const bodyRows = (html: string): readonly (readonly string[])[] =>
  every(html.replace(/<a class="pick"[\s\S]*?<\/a>/g, ''), /<tr[^>]*>([\s\S]*?)<\/tr>/g)
    .filter((row) => !row.includes('scope="col"'))
    .map((row) => every(row, /<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g).map(plain))

const sizeOf = (firm: Firm): number => firm.sales.get(2024) ?? 0
const shareText = (share: number): string => `${(100 * share).toFixed(1).replace('-', '−')} %`
const changeText = (share: number): string => {
  const text = `${(100 * Math.abs(share)).toFixed(1)} %`
  return text === '0.0 %' ? text : `${share < 0 ? '▼' : '▲'} ${text}`
}
const growthOf = ({ sales }: Firm): number =>
  ((sales.get(2024) ?? 0) - (sales.get(2023) ?? 0)) / (sales.get(2023) ?? 0)
const marginOf = ({ sales, ebit }: Firm): number => (ebit.get(2024) ?? 0) / (sales.get(2024) ?? 0)
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',')
const tenths = (value: number): string => (Math.round(10 * value) / 10).toFixed(1)
const thousands = (value: number): string =>
  value >= 1e6
    ? `${tenths(value / 1e6)} bn`
    : value >= 1000
      ? `${tenths(value / 1000)} m`
      : `${tenths(value)} k`

const LARGEST = firms.toSorted((a, b) => sizeOf(b) - sizeOf(a))

test('the first page counts companies and countries, and lists sales, growth and margin in each order', async () => {
  expect(plain(await htmlOf('page', { address: '' }))).toContain(
    `Find a company${COMPANIES} companies, 3 countries, 2 records of owners and holdings`,
  )
  const rowOf = (firm: Firm): readonly string[] => [
    `${firm.name}${INDUSTRIES[firm.industry]?.[1]}`,
    COUNTRIES[firm.country]?.[0] ?? '',
    '',
    `${thousands(sizeOf(firm))}2024`,
    changeText(growthOf(firm)),
    shareText(marginOf(firm)),
  ]
  const first = await htmlOf('companies', { query: '#/' })
  expect(plain(first)).toContain(`${COMPANIES} companies`)
  expect(bodyRows(first)).toEqual(LARGEST.slice(0, 20).map(rowOf))
  expect(first).toContain('>More companies<')
  const second = await htmlOf('companies', { query: '#/?from=20' })
  expect(bodyRows(second)).toEqual(LARGEST.slice(20).map(rowOf))
  expect(plain(second)).toContain('21 to 60 of the list')
  const norway = firms.filter(({ country }) => country === 1)
  const byMargin = await htmlOf('companies', { query: '#/?country=NO&order=margin' })
  expect(plain(byMargin)).toContain(`${norway.length} companies`)
  expect(bodyRows(byMargin)).toEqual(
    norway
      .toSorted((a, b) => marginOf(b) - marginOf(a))
      .slice(0, 20)
      .map(rowOf),
  )
  const csv = await fileOf('companies', { query: '#/?country=NO&order=name' })
  expect(every(csv, /^(\d+,[^,]*),/gm)).toEqual(
    norway.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ id, name }) => `${id},${name}`),
  )
})

test('facets and bars count what a filter leaves', async () => {
  const html = await htmlOf('facets', { query: '#/?industry=49.410' })
  const freight = firms.filter(({ industry }) => industry === 0)
  const counts = new Map(
    every(html, /<li><a [^>]*data-key="([\s\S]*?)<\/li>/g).map((link) => {
      const [key = ''] = link.split('"')
      return [key, Number(every(link, /<span class="num">(.*?)<\/span>/g)[0])]
    }),
  )
  for (const [at, [code]] of COUNTRIES.entries())
    expect(counts.get(`country ${code}`)).toBe(freight.filter(({ country }) => country === at).length)
  for (const [at, [code]] of INDUSTRIES.entries())
    expect(counts.get(`industry ${code}`)).toBe(firms.filter(({ industry }) => industry === at).length)
  // Thousands of EUR: 10^3 is a million.
  const classes = [
    ['9', 1e6, 1e7],
    ['8', 1e5, 1e6],
    ['7', 1e4, 1e5],
    ['6', 1e3, 1e4],
  ] as const
  const bars = new Map(bodyRows(html).map(([title = '', , count = '']) => [title, Number(count)]))
  const titles = { 9: '1 to 10 bn', 8: '0.1 to 1 bn', 7: '10 to 100 m', 6: '1 to 10 m' }
  for (const [power, min, below] of classes) {
    const count = freight.filter((firm) => sizeOf(firm) >= min && sizeOf(firm) < below).length
    expect([power, counts.get(`size ${power}`) ?? 0]).toEqual([power, count])
    expect([power, bars.get(titles[power]) ?? 0]).toEqual([power, count])
  }
  for (const [at, [, name]] of COUNTRIES.entries())
    expect(bars.get(name)).toBe(freight.filter(({ country }) => country === at).length)
})

test('the lake’s tiles count loads', async () => {
  const html = await htmlOf('lake', {})
  const tiles = Object.fromEntries(
    every(html, /<dt>([\s\S]*?)<\/dd>/g).map((tile) => tile.split('</dt><dd>').map(plain)),
  )
  const today = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
  expect(tiles).toMatchObject({ Snapshot: '2', Loads: '2', Quarantined: '0by the newest load; 0 by all' })
  expect(tiles['Newest load'].slice(0, 6)).toBe(today.slice(0, 6).replaceAll(' ', '\u00a0'))
})

test.for(firms.filter((_, at) => at % 11 === 0))('figures of $name are those of its record', async (firm) => {
  const { id, sales, ebit, alone, employees, before } = firm
  const html = await htmlOf('figures', { id: String(id) })
  const newestFirst = YEARS.toReversed()
  const most = Math.max(...sales.values(), ...alone.values())
  const factor = most >= 1e6 ? 1000 : most >= 1000 ? 1 : 0.001
  const shown = (value: number): string => {
    const scaled = value / factor
    if (Number.isInteger(scaled) || Math.abs(scaled) >= 100) return grouped(Math.round(scaled))
    return Math.abs(scaled) >= 1 ? tenths(scaled) : String(Number(scaled.toPrecision(2)))
  }
  const rowsOf = (name: string): readonly (readonly string[])[] =>
    bodyRows(html)
      .filter(([head]) => head === name)
      .map(([, ...cells]) => cells)
  expect(rowsOf('EBIT')).toEqual([newestFirst.map((year) => shown(ebit.get(year) ?? 0))])
  const [consolidated, unconsolidated] = rowsOf('Net sales')
  const [newest = '', ...older] = consolidated ?? []
  expect(older).toEqual(newestFirst.slice(1).map((year) => shown(sales.get(year) ?? 0)))
  expect(newest.replace(/until .*/, '')).toBe(
    `${shown(sizeOf(firm))}${before === undefined ? '' : `was ${shown(before)}`}`,
  )
  expect(unconsolidated).toEqual(
    alone.size === 0 ? undefined : newestFirst.map((year) => shown(alone.get(year) ?? 0)),
  )
  const [first = '', second = '', third = ''] = html.split('<div class="card stat">').slice(1).map(plain)
  const yearly = (sizeOf(firm) / (sales.get(2021) ?? 0)) ** (1 / 3) - 1
  const [amount = '', unit = ''] = thousands(sizeOf(firm)).split(' ')
  expect(first).toContain(`Net sales 2024${amount} ${unit} EUR`)
  expect(first).toContain(`${changeText(growthOf(firm))} in a year${shareText(yearly)} a year since 2021`)
  expect(second).toContain(`${shareText(marginOf(firm))} of net sales`)
  expect(third).toContain(`Employees 2024${employees}`)
  // One year is a number without a chart.
  expect(html.split('<div class="card stat">')[3]).not.toContain('<svg')
  const bars = every(html, /<title>(2\d{3}: [\d,]+)<\/title>/g)
  for (const [year, value] of sales) expect(bars).toContain(`${year}: ${grouped(value * 1000)}`)
  const lines = (await fileOf('figures', { id })).split('\r\n').filter((line) => line.includes(',NetSales,'))
  expect(lines.length).toBe(sales.size + alone.size)
  for (const [year, value] of sales)
    expect(lines.some((line) => line.includes(`,${year},${value * 1000},EUR,`))).toBe(true)
})

test('changes are the loads of the records, peers the nearest by sales, and nothing is wrong', async () => {
  for (const { id, sales, ebit, alone, before } of firms.slice(3, 7)) {
    const said = plain(await htmlOf('changes', { id }))
    expect(said).toContain(`First seen, with ${sales.size + ebit.size + alone.size} figures`)
    const now = (sales.get(2024) ?? 0) * 1000
    if (before !== undefined)
      expect(said).toContain(`2024: ${grouped(before * 1000)}→ became ${grouped(now)} EUR, restated`)
    expect(said.includes('restated')).toBe(before !== undefined)
  }
  const firm = firms[30]
  if (firm === undefined) throw new TypeError('no firm')
  const distance = (other: Firm): number =>
    Math.abs(Math.log(sizeOf(other) / sizeOf(firm))) + (other.country === firm.country ? 0 : 1)
  const nearest = firms
    .filter((other) => other !== firm && other.industry === firm.industry)
    .toSorted((a, b) => distance(a) - distance(b))
    .slice(0, 10)
  const rows = [firm, ...nearest].toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const html = await htmlOf('peers', { id: firm.id })
  expect(bodyRows(html)).toEqual(
    rows.map((one) => {
      const size = sizeOf(one) / (Math.max(...rows.map(sizeOf)) >= 1e6 ? 1000 : 1)
      return [
        `${one.name}${COUNTRIES[one.country]?.[0]}, 2024`,
        '',
        size < 10 ? size.toFixed(1) : grouped(Math.round(size)),
        changeText(growthOf(one)),
        shareText(marginOf(one)),
      ]
    }),
  )
  expect(plain(await htmlOf('company-findings', { id: firm.id }))).toContain('No rule on the data is broken')
})

test('owners are those of the records, and stakes multiply along a path', async () => {
  const html = await htmlOf('ownership', { id: 1001 })
  expect(plain(html)).toContain('2 direct owners; no holdings are known.')
  const lines = every(html, /<div class="r">([\s\S]*?)<\/div>/g).map((row) =>
    every(row, /<span class="(?:nm quiet|num)">([\s\S]*?)<\/span>/g).map(plain),
  )
  const nameOf = (id: number): string => {
    const firm = firms.find((one) => one.id === id)
    return `${firm?.name}${COUNTRIES[firm?.country ?? 0]?.[0]}`
  }
  expect(lines).toEqual([
    [nameOf(1002), '60 %', '1'],
    [nameOf(1004), '50 %', ''],
    [nameOf(1003), '25 to 40 %', ''],
  ])
  const ultimate = await htmlOf('ultimate-owners', { id: 1001 })
  expect(
    every(ultimate, /<div class="r">([\s\S]*?)<\/div>/g).map((row) =>
      every(row, /<span class="(?:nm quiet|num)">([\s\S]*?)<\/span>/g).map(plain),
    ),
  ).toEqual([
    [nameOf(1003), '25 to 40 %', ''],
    [nameOf(1004), '30 %', ''],
  ])
  expect((await fileOf('holdings', { id: 1001 })).trim().split('\r\n').length).toBe(4)
})

test('a search finds names, and offers the nearest ones of a misspelt one', async () => {
  const names = (html: string): readonly string[] => every(html, /<bdi>(.*?)<\/bdi>/g)
  const holds = firms.filter(({ name }) => name.includes('59')).map(({ name }) => name)
  expect(names(await htmlOf('found', { text: '59' }))).toEqual(holds)
  const offered = await htmlOf('found', { text: 'Frim H59' })
  expect(plain(offered)).toContain('Did you mean')
  expect(names(offered)[0]).toBe(holds[0])
  expect(plain(await htmlOf('found', { text: 'zzzzzzzzzz' }))).toContain('No company is found.')
})

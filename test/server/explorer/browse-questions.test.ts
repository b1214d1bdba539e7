/** Browsing: the numbers are those of `query`, facets count what all others leave, and a caller browses what it may see. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query } from '../../../src/jobs/query.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import type { AskExplorer, ExplorerReply } from '../../../src/server/explorer/explorer.ts'
import { sharedLake } from '../../support/lakes.ts'
import { EVERYTHING, openBrowsing, openExplorer, swedish } from './explorer-lake.ts'

let folder = ''
let lake = ''
let explorer: { readonly ask: AskExplorer; readonly close: () => Promise<void> }
const NEVER = new AbortController().signal

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await sharedLake('deliveries')
  explorer = await openBrowsing(lake)
})
afterAll(async () => {
  await explorer.close()
  await rm(folder, { recursive: true, force: true })
})

const ask = (name: string, parameters: unknown = {}, caller: Caller = EVERYTHING): Promise<ExplorerReply> =>
  explorer.ask(name, parameters, caller, NEVER)

const answerTo = async (...asked: Parameters<typeof ask>) => {
  const reply = await ask(...asked)
  if (reply.kind !== 'answer') throw new TypeError(`Cannot read rows of "${reply.kind}"`)
  const rows = reply.rows.map((row) => Object.fromEntries(reply.columns.map((name, at) => [name, row[at]])))
  return { rows, sql: reply.sql ?? '' }
}
const rowsOf = async (...asked: Parameters<typeof ask>) => (await answerTo(...asked)).rows

const countsOf = async (facet: string, filter: object = {}, caller: Caller = EVERYTHING) =>
  Object.fromEntries(
    (await rowsOf('facets', filter, caller))
      .filter((row) => row.facet === facet)
      .map((row) => [row.value ?? '', row.companies]),
  )

/** Net sales, growth and margin of each company as the tables have them. */
const FIGURES = `WITH sales AS (
  FROM figures WHERE line_item = 'NetSales' QUALIFY row_number() OVER (PARTITION BY internal_id ORDER BY fiscal_year DESC) = 1
)
SELECT c.internal_id, l.fiscal_year, l.currency, l.value AS net_sales, g.growth, e.value / nullif(l.value, 0) AS ebit_margin
FROM companies AS c LEFT JOIN sales AS l ON l.internal_id = c.internal_id
LEFT JOIN growth('NetSales') AS g ON g.internal_id = c.internal_id AND g.fiscal_year = l.fiscal_year
LEFT JOIN figures AS e ON e.internal_id = c.internal_id AND e.line_item = 'EBIT' AND e.fiscal_year = l.fiscal_year
ORDER BY c.internal_id`

test('the list has all companies with the net sales, growth and margin that query reports', async () => {
  const listed = await rowsOf('browse', { most: 10_000 })
  const figures = listed
    .map(({ internal_id, fiscal_year, currency, net_sales, growth, ebit_margin }) => ({
      ...{ internal_id, fiscal_year, currency, net_sales, growth, ebit_margin },
    }))
    .toSorted((a, b) => Number(a.internal_id) - Number(b.internal_id))
  expect(figures).toEqual(await query({ lake, sql: FIGURES }))
  expect(figures.filter(({ growth }) => growth !== null).length).toBeGreaterThan(100)
  const drawn = listed.find((row) => row.growth !== null)
  expect(drawn?.sales_by_year).toEqual(
    (
      await query({
        lake,
        sql: `SELECT value FROM financials WHERE internal_id = ${drawn?.internal_id} AND line_item = 'NetSales'
  AND consolidation = '${drawn?.consolidation}' ORDER BY fiscal_year`,
      })
    ).map(({ value }) => value),
  )
})

test.each([
  {},
  { country: ['SE', 'NO'] },
  { status: ['Active'], country: [''] },
  { text: 'holding', listed: ['Listed'] },
  { form: ["Limited company' OR true --"] },
])('the classes of sales are what query says to their statement: %j', async (filter) => {
  const { rows, sql } = await answerTo('facets', filter)
  const sizes = rows.filter((row) => row.facet === 'size').map((row) => [row.value, row.companies])
  const expected = (await query({ lake, sql })).map((row) => [row.size, row.companies])
  expect(Object.fromEntries(sizes)).toEqual(Object.fromEntries(expected))
})

test('a facet counts the companies that all other facets leave, and the list has those that all leave', async () => {
  const filter = { country: ['SE', 'NO'], status: ['Active'] }
  const countBy = (column: string, where: string) =>
    query({
      lake,
      sql: `SELECT coalesce(${column}, '') AS value, count(*) AS n FROM companies WHERE ${where} GROUP BY 1`,
    }).then((rows) => Object.fromEntries(rows.map((row) => [row.value, row.n])))
  expect(await countsOf('country', filter)).toEqual(
    await countBy('country_code', `operational_status_name = 'Active'`),
  )
  expect(await countsOf('status', filter)).toEqual(
    await countBy('operational_status_name', `country_code IN ('SE', 'NO')`),
  )
  const both = `country_code IN ('SE', 'NO') AND operational_status_name = 'Active'`
  expect(await countsOf('form', filter)).toEqual(await countBy('legal_form_name', both))
  expect(await countsOf('listed', filter)).toEqual(await countBy('listing_type', both))
  expect(await countsOf('industry', filter)).toEqual(
    await countBy('coalesce(industry_codes[1].code, industry_codes[1].text)', both),
  )
  const [listed] = await rowsOf('browse', filter)
  const { USD } = await countsOf('all', filter)
  expect([listed?.companies, listed?.unit]).toEqual([USD, 'USD'])
  const sized = await rowsOf('browse', { ...filter, size: ['7'] })
  expect(sized.length).toBeGreaterThan(0)
  for (const row of sized) {
    expect(Number(row.net_sales)).toBeGreaterThanOrEqual(1e7)
    expect(Number(row.net_sales)).toBeLessThan(1e8)
    expect(row.currency).toBe('USD')
  }
})

test('the list is in the order that is asked for, page by page without a gap, companies without a value last', async () => {
  const all = await rowsOf('browse', { order: 'growth', direction: 'asc', most: 10_000 })
  const growths = all.map((row) => row.growth).filter((one) => one !== null)
  expect(growths).toEqual(growths.toSorted((a, b) => Number(a) - Number(b)))
  expect(all.slice(growths.length).every((row) => row.growth === null)).toBe(true)
  const pages = [
    ...(await rowsOf('browse', { order: 'growth', direction: 'asc', most: 20 })),
    ...(await rowsOf('browse', { order: 'growth', direction: 'asc', from: 20 })),
  ]
  expect(pages.map((row) => row.internal_id)).toEqual(all.slice(0, 70).map((row) => row.internal_id))
  const sales = await rowsOf('browse', { most: 10_000 })
  const inUnit = sales.filter((row) => row.currency === row.unit).map((row) => Number(row.net_sales))
  expect(inUnit).toEqual(inUnit.toSorted((a, b) => b - a))
  // Net sales in other currencies follow all that can be compared.
  expect(sales.slice(0, inUnit.length).every((row) => row.currency === row.unit)).toBe(true)
})

test('a caller browses and counts the companies that it may see, whoever asked before', async () => {
  const swedes = await query({ lake, sql: `SELECT count(*) AS n FROM companies WHERE country_code = 'SE'` })
  const unplaced = await query({
    lake,
    sql: 'SELECT count(*) AS n FROM companies WHERE country_code IS NULL',
  })
  const [all, own, none] = [await countsOf('country'), swedes[0]?.n, unplaced[0]?.n]
  const nobody: Caller = { name: 'nobody', rights: { countries: new Map(), withoutCountry: null } }
  const without: Caller = {
    name: 'without',
    rights: { countries: new Map(), withoutCountry: new Set() },
  }
  for (const caller of [swedish('Owner'), swedish()]) {
    expect(await countsOf('country', {}, caller)).toEqual({ SE: own })
    expect(await countsOf('country', { country: ['NO'] }, caller)).toEqual({ SE: own })
    expect(await rowsOf('browse', { country: ['NO'] }, caller)).toEqual([])
    const listed = await rowsOf('browse', { most: 10_000 }, caller)
    expect([listed.length, listed[0]?.companies]).toEqual([own, own])
    expect(new Set(listed.map((row) => row.country_code))).toEqual(new Set(['SE']))
  }
  expect(await countsOf('country', {}, without)).toEqual({ '': none })
  expect(await countsOf('country', {}, nobody)).toEqual({})
  expect(await rowsOf('browse', {}, nobody)).toEqual([])
  expect(await countsOf('country')).toEqual(all)
})

test.each([
  ['browse', { order: 'internal_id; DROP' }, 'order'],
  ['browse', { country: 'SE' }, 'country'],
  ['browse', { from: -1 }, 'from'],
  ['facets', { size: ['huge'] }, 'size'],
  ['facets', { text: 'x'.repeat(201) }, 'text'],
])('%s refuses what is no parameter: %j', async (name, parameters, said) => {
  expect(await ask(name, parameters)).toEqual({
    kind: 'refused',
    messages: [expect.stringContaining(said)],
  })
})

test('a question that is interrupted while the list is made leaves the next one a whole list', async () => {
  const other = await openBrowsing(lake)
  for (const afterMs of [0, 1, 5, 20, 60]) {
    const gone = new AbortController()
    const asked = other.ask('browse', {}, EVERYTHING, gone.signal)
    setTimeout(() => gone.abort(new Error('gone')), afterMs)
    await asked.catch(() => undefined)
  }
  expect(await other.ask('facets', {}, EVERYTHING, NEVER)).toEqual(await ask('facets'))
  await other.close()
})

test('without a serving index nothing can be browsed', async () => {
  const plain = openExplorer(lake)
  expect(await plain.ask('browse', {}, EVERYTHING, NEVER)).toEqual({ kind: 'off' })
  await plain.close()
})

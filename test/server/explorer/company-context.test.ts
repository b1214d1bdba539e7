/** What a company's page asks after its figures: the same as the views say, narrowed to one company; and its workbook. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { query } from '../../../src/jobs/query.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import type { AskExplorer } from '../../../src/server/explorer/explorer.ts'
import { companyWorkbook } from '../../../src/server/explorer/pages/company-workbook.ts'
import { readerOf } from '../../../src/server/explorer/pages/fragment.ts'
import { sharedLake } from '../../support/lakes.ts'
import { needs } from '../../support/needs.ts'
import { openPython, openpyxlMissing } from '../../support/readers.ts'
import {
  ALPHA,
  EVERYTHING,
  loadExplorerLake,
  openBrowsing,
  openExplorer,
  SECRETS,
  swedish,
} from './explorer-lake.ts'

/** The largest whole number of a JSON number is far below. */
const LARGE = '9007199254740993'

let folder = ''
let [sample, awkward] = ['', '']
const opened: { readonly ask: AskExplorer; readonly close: () => Promise<void> }[] = []
const NEVER = new AbortController().signal

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  ;[sample, awkward] = [join(folder, 'sample'), join(folder, 'awkward')]
  sample = await sharedLake('deliveries')
  await loadExplorerLake(awkward)
  opened.push(await openBrowsing(sample), openExplorer(awkward))
})
afterAll(async () => {
  for (const { close } of opened) await close()
  await rm(folder, { recursive: true, force: true })
})

type Rows = Record<string, unknown>[]
const rowsIn = async (
  at: number,
  name: string,
  parameters: object,
  caller: Caller = EVERYTHING,
): Promise<Rows> => {
  const reply = await opened[at]?.ask(name, parameters, caller, NEVER)
  if (reply?.kind !== 'answer') throw new TypeError(`Cannot read rows of "${reply?.kind}"`)
  return reply.rows.map((row) => Object.fromEntries(reply.columns.map((name, at) => [name, row[at]])))
}

test('peers are those of the macro with the same sales, and the company itself stands among them', async () => {
  const companies = await query({
    lake: sample,
    sql: `SELECT internal_id AS id FROM latest_figures JOIN company_industries USING (internal_id)
WHERE line_item = 'NetSales' AND value > 0 AND position = 1 AND NOT is_group AND division IS NOT NULL ORDER BY 1 LIMIT 12`,
  })
  expect(companies).toHaveLength(12)
  for (const { id } of companies) {
    const found = await rowsIn(0, 'peers', { id })
    const expected = await query({
      lake: sample,
      sql: `SELECT rank, internal_id, company_name, country_code, division, net_sales_eur, months FROM peers(${id}, 10)`,
    })
    const others = found.filter(({ rank }) => rank !== 0).toSorted((a, b) => Number(a.rank) - Number(b.rank))
    expect(
      others.map(({ fiscal_year: _, growth: __, growth_reason: ___, ebit_margin: ____, ...row }) => row),
    ).toEqual(expected)
    expect(found.filter(({ rank }) => rank === 0).map((row) => row.internal_id)).toEqual([id])
  }
})

test('findings of a company are those of all rules but circles', async () => {
  const all = await query({
    lake: sample,
    sql: `SELECT internal_id AS id, rule, severity, fiscal_year, item, round(value, 6) AS value, round(expected, 6) AS expected
FROM quality_findings WHERE rule <> 'cycles' ORDER BY severity, rule, fiscal_year DESC, item, value`,
  })
  const byCompany = Map.groupBy(all, ({ id }) => id)
  expect(byCompany.size).toBeGreaterThan(3)
  for (const [id, expected] of byCompany)
    expect(await rowsIn(0, 'company-findings', { id })).toEqual(expected.map(({ id: _, ...row }) => row))
})

test('changes of a company are its restatements, its details and the figures that came, the newest first', async () => {
  const rows = await rowsIn(1, 'changes', { id: ALPHA })
  expect(
    rows.map((row) => [row.snapshot, row.kind, row.item, row.fiscal_year, row.old_value, row.new_value]),
  ).toEqual([
    [2, 'restated', 'Net sales', 2021, '10000.0', '12000.0'],
    [1, 'first', null, null, null, '5'],
  ])
  const restated = await query({
    lake: sample,
    sql: `SELECT internal_id AS id, fiscal_year, old_value, new_value FROM restatements ORDER BY ALL`,
  })
  expect(restated.length).toBeGreaterThan(3)
  const found = await Promise.all(
    [...new Set(restated.map(({ id }) => id))].map(async (id) =>
      (await rowsIn(0, 'changes', { id }))
        .filter(({ kind }) => kind === 'restated')
        .map((row) => ({
          id,
          fiscal_year: row.fiscal_year,
          old_value: Number(row.old_value),
          new_value: Number(row.new_value),
        })),
    ),
  )
  const byText = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort()
  expect(byText(found.flat())).toEqual(byText(restated))
  const details = await query({
    lake: sample,
    sql: `SELECT internal_id AS id, column_name, old_value, new_value FROM company_changes
WHERE column_name NOT IN ('as_reported', 'extra', 'score', 'generated_at') AND column_name NOT LIKE '%_updated_at' ORDER BY ALL`,
  })
  const [one] = details
  const own = details.filter(({ id }) => id === one?.id)
  expect(
    (await rowsIn(0, 'changes', { id: one?.id }))
      .filter(({ kind }) => kind === 'detail')
      .map((row) => ({
        id: one?.id,
        column_name: row.item,
        old_value: row.old_value,
        new_value: row.new_value,
      })),
  ).toEqual(own)
})

test('ultimate owners are those of the macro, and protected persons have no name', async () => {
  const rows = await rowsIn(1, 'ultimate-owners', { id: ALPHA })
  const expected = await query({
    lake: awkward,
    sql: `SELECT min_stake, max_stake, paths, level FROM ultimate_owners(${ALPHA}) ORDER BY max_stake DESC, min_stake DESC, owner_id`,
  })
  expect(
    rows.map(({ min_stake, max_stake, paths, level }) => ({ min_stake, max_stake, paths, level })),
  ).toEqual(expected)
  expect(
    rows.filter(({ owner_kind: kind }) => kind === 'protected').map((row) => [row.owner_name, row.owner_id]),
  ).toEqual([
    [null, null],
    [null, null],
  ])
  for (const secret of SECRETS) expect(JSON.stringify(rows)).not.toContain(secret)
})

test('a token sees nothing of a company of another country, in no part of its page', async () => {
  const sweden = swedish('Owner')
  const [norse] = await query({
    lake: sample,
    sql: `SELECT min(internal_id) AS id FROM companies WHERE country_code = 'NO'`,
  })
  for (const name of ['company', 'figures', 'peers', 'changes', 'company-findings'])
    expect([name, await rowsIn(0, name, { id: norse?.id }, sweden)]).toEqual([name, []])
  const peers = await rowsIn(
    0,
    'peers',
    { id: (await rowsIn(0, 'browse', { country: ['SE'], industry: ['62.010'] }))[0]?.internal_id },
    sweden,
  )
  expect(new Set(peers.map((row) => row.country_code))).toEqual(new Set(['SE']))
})

test('an id beyond 2^53 is asked for by its digits, and comes back as they are', async () => {
  const lake = join(folder, 'large')
  const line = `{"BasicDetails":{"InternalId":${LARGE},"CompanyName":"Large"},"Financials":{"ProfitAndLoss":{"NetSales":{"2020":5}}},"MetaData":{"CurrentCurrencyCode":"EUR","FinancialFigureScale":"None"}}`
  await writeFile(join(folder, 'companies.jsonl'), `${line}\n`)
  await convert({ from: [join(folder, 'companies.jsonl')], lake })
  const explorer = openExplorer(lake, { snapshot: () => 1 })
  for (const name of ['company', 'figures', 'changes', 'ownership', 'ultimate-owners', 'company-findings']) {
    const reply = await explorer.ask(name, { id: LARGE }, EVERYTHING, NEVER)
    expect([name, reply.kind]).toEqual([name, 'answer'])
    if (reply.kind === 'answer' && name === 'company') expect(reply.rows[0]?.[0]).toBe(LARGE)
    if (reply.kind === 'answer' && name === 'figures') expect(reply.rows).toHaveLength(1)
  }
  await explorer.close()
})

/** Rows of each sheet, as openpyxl reads them. */
const READ = `
import openpyxl
result = {sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()] for sheet in openpyxl.load_workbook(input)}
`

test('the workbook has the details, all figures by year as they are, and the restated ones', async (context) => {
  needs(context, 'openpyxl', openpyxlMissing())
  const explorer = openExplorer(awkward)
  const workbook = (id: number) => companyWorkbook(readerOf(explorer.ask, EVERYTHING, NEVER), { id })
  const path = join(folder, 'company.xlsx')
  await writeFile(path, await workbook(ALPHA))
  const python = await openPython()
  const sheets = await python.run<Record<string, unknown[][]>>(READ, path)
  await python.close()
  expect(Object.keys(sheets)).toEqual(['Company', 'Figures', 'Restated'])
  expect(sheets.Company).toContainEqual(['company_name', 'Alpha'])
  const line = ['consolidation', 'category', 'line_item', 'name', 'unit', 'currency']
  expect(sheets.Figures?.slice(0, 2)).toEqual([
    [...line, '2021', '2019', '2018'],
    ['Consolidated', 'ProfitAndLoss', 'NetSales', 'Net sales', 'amount', 'EUR', 12_000, 2000, 1000],
  ])
  expect(sheets.Restated?.[1]?.slice(6, 10)).toEqual([2021, 10_000, 'EUR', 2])
  await expect(workbook(5)).rejects.toMatchObject({ reply: { kind: 'unknown' } })
  await expect(workbook(-1)).rejects.toMatchObject({ reply: { kind: 'refused' } })
  await explorer.close()
})

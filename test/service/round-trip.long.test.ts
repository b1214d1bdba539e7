/** A lake, served and pulled into another one: both hold the same. */

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeSample } from '../../data/sample.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { SAMPLE } from '../cli/run-cli.ts'
import { type Bench, companyLine, openBench, queryLake } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { batchesFrom, makeServable, pullFrom, rowsOf, serving } from './serving.ts'

const folders: string[] = []
const newBench = async (): Promise<Bench> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  folders.push(folder)
  return openBench(folder)
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/**
 * What both lakes must have alike, a hash for each table: all current rows but bad lines, which nobody serves. Unknown
 * fields count as JSON data: the lake keeps their text as it came, the server may write a letter without an escape.
 */
const comparable = async (lake: string): Promise<Readonly<Record<string, string>>> => {
  const names = TABLES.map(({ name }) => name)
  const tables = await rowsOf(lake, names, (column, value) =>
    column === 'extra' && typeof value === 'string' ? JSON.stringify(JSON.parse(value)) : value,
  )
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [name, `${rows.length} ${sha256Of(rows.join('\n'))}`]),
  )
}

/** Serves a lake's batch files and pulls all of them. */
const pulledByBatches = async (lake: string): Promise<string> => {
  await makeServable(lake)
  const pulled = join(await temporaryFolder(), 'lake')
  await batchesFrom(await serving(lake), pulled)
  return pulled
}

test('the sample comes back by batch files', async () => {
  const bench = await newBench()
  await bench.run(['companies', 'relations'].map((content) => `${SAMPLE}/${content}-*.jsonl.br`))
  const pulled = await pulledByBatches(bench.lake)
  expect(await comparable(pulled)).toEqual(await comparable(bench.lake))
})

test('awkward companies come back by batch files, oddities included', async () => {
  const bench = await newBench()
  const options = { companies: 60, seed: 11, files: 1, small: true, awkward: 1 }
  await writeSample(bench.folder, { ...options, content: ['companies', 'relations'] }, 1)
  await bench.run(['*.jsonl.br'])
  const odd = await bench.query(
    'SELECT count(*) FILTER (WHERE as_reported IS NOT NULL), count(*) FILTER (WHERE extra IS NOT NULL) FROM companies',
  )
  for (const count of odd.flat()) expect(Number(count)).toBeGreaterThan(0)
  const pulled = await pulledByBatches(bench.lake)
  expect(await comparable(pulled)).toEqual(await comparable(bench.lake))
})

/** Euros for a Swedish crown: by the annual averages, units of each for one US dollar. */
const [EUR_2020, EUR_2024] = [0.8764 / 9.2167, 0.9242 / 10.5744]

test('figures come converted by pages in another currency', async () => {
  const bench = await newBench()
  const figures = {
    ProfitAndLoss: { NetSales: { 2020: 100, 2024: 10.5 } },
    KeyFinancialRatio: { EPS: { 2020: 2 }, EBITMargin: { 2020: 0.12 } },
    OtherFinancialItems: { FiscalYearLength: { 2020: 12 } },
  }
  const metaOf = (currency: string) => ({ CurrentCurrencyCode: currency, FinancialFigureScale: 'Thousands' })
  await bench.write('companies.jsonl', [
    companyLine(1, { MetaData: metaOf('SEK'), Financials: figures }),
    companyLine(2, { MetaData: metaOf('EUR'), Financials: figures }),
  ])
  await bench.run(['companies.jsonl'])
  const pulled = join(await temporaryFolder(), 'lake')
  await pullFrom(await serving(bench.lake), pulled, { currency: 'EUR' })
  const rows = await queryLake(
    pulled,
    'SELECT internal_id, line_item, fiscal_year, value, currency FROM financials ORDER BY ALL',
  )
  const wanted = [
    ['EBITMargin', 2020, 0.12, null],
    ['EPS', 2020, 2 * EUR_2020, 'EUR'],
    ['FiscalYearLength', 2020, 12, null],
    ['NetSales', 2020, 100_000 * EUR_2020, 'EUR'],
    ['NetSales', 2024, 10_500 * EUR_2024, 'EUR'],
  ] as const
  expect(rows.slice(0, 5)).toEqual(
    wanted.map(([item, year, value, currency]) => [1, item, year, expect.closeTo(value, 9), currency]),
  )
  expect(rows.slice(5)).toEqual([
    [2, 'EBITMargin', 2020, 0.12, null],
    [2, 'EPS', 2020, 2, 'EUR'],
    [2, 'FiscalYearLength', 2020, 12, null],
    [2, 'NetSales', 2020, 100_000, 'EUR'],
    [2, 'NetSales', 2024, 10_500, 'EUR'],
  ])
})

test('Score of a record is not in a page unless the search gives one: all else is', async () => {
  const bench = await newBench()
  await bench.write('companies.jsonl', [
    companyLine(1, {
      MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
      Score: 3.5,
    }),
  ])
  await bench.run(['companies.jsonl'])
  const pulled = join(await temporaryFolder(), 'lake')
  await pullFrom(await serving(bench.lake), pulled)
  const scores = 'SELECT score FROM companies'
  expect([await queryLake(bench.lake, scores), await queryLake(pulled, scores)]).toEqual([[[3.5]], [[null]]])
  const others = async (lake: string) => rowsOf(lake, ['(SELECT * EXCLUDE score FROM companies)'])
  expect(await others(pulled)).toEqual(await others(bench.lake))
  // By batch files it comes too.
  const byFiles = await pulledByBatches(bench.lake)
  expect(await queryLake(byFiles, scores)).toEqual([[3.5]])
})

const REAL = resolve('../shared/data/real')

describe('real companies', () => {
  let lake = ''
  const realTest = (name: string, body: () => Promise<void>): void => {
    test(name, async ({ skip }) => {
      if (!existsSync(REAL)) skip(`no folder "${REAL}"`)
      await body()
    })
  }
  beforeAll(async () => {
    if (!existsSync(REAL)) return
    const bench = await newBench()
    lake = bench.lake
    await bench.run([join(REAL, 'companies.jsonl'), join(REAL, 'relations.jsonl')])
  })

  realTest('come back by batch files', async () => {
    const pulled = await pulledByBatches(lake)
    expect(await comparable(pulled)).toEqual(await comparable(lake))
  })

  realTest('come back by pages, a pull for each currency that they report in', async () => {
    const from = await serving(lake)
    const pulled = join(await temporaryFolder(), 'lake')
    const currencies = await queryLake(
      lake,
      'SELECT current_currency_code, list(internal_id ORDER BY internal_id) FROM companies GROUP BY 1 ORDER BY 1',
    )
    expect(currencies.length).toBeGreaterThan(5)
    let companies = 0
    for (const [currency, ids] of currencies) {
      if (!Array.isArray(ids)) throw new TypeError('No list of ids')
      const search = { InternalId: ids.map(Number) }
      const { entry } = await pullFrom(from, pulled, { currency: String(currency), search, pageSize: 500 })
      expect(entry).toMatchObject({ announced: ids.length, received: ids.length })
      companies += ids.length
    }
    const ids = (await queryLake(lake, 'SELECT internal_id FROM relations')).map(([id]) => Number(id))
    const search = { InternalId: ids }
    const relations = { content: 'relations', currency: undefined, search, pageSize: 100 } as const
    const { entry } = await pullFrom(from, pulled, relations)
    expect([companies, entry.received]).toEqual([719, 266])
    expect(await comparable(pulled)).toEqual(await comparable(lake))
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../../../src/lake/duckdb/engine.ts'
import type { CompanySeries } from '../../../../src/restore/nested-series.ts'
import { FigureFile, type FiguresOfCompany } from '../../../../src/server/serving-index/build/figure-file.ts'

let folder: string
let engine: Engine
let session: Session
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-figures-'))
  engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
})
afterAll(async () => {
  engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** Series by their numbers: years, each with the value that they give. */
const seriesOf = (numbers: readonly number[], years: readonly number[], first: number): CompanySeries => {
  const rows = numbers.flatMap(() => years)
  const values = Float64Array.from(rows, (_, row) => first + row / 4)
  return {
    count: numbers.length,
    numbers: Int32Array.from(numbers),
    starts: Int32Array.from(numbers, (_, at) => at * years.length),
    ends: Int32Array.from(numbers, (_, at) => (at + 1) * years.length),
    years: Int16Array.from(rows),
    values,
    figures: values,
  }
}

const names = {
  items: [
    { category: 'BalanceSheet', lineItem: 'TotalAssets' },
    { category: 'ProfitAndLoss', lineItem: 'EBIT' },
    { category: 'ProfitAndLoss', lineItem: 'NetSales' },
  ],
}
const CURRENCIES = [...['"SEK"', '"NOK"', '"a \\"quoted\\" one"'].map((text) => Buffer.from(text)), undefined]
const YEARS = [[2023], [2020, 2022, 2023], [1990, 2023], []]

/** The company of a number: ids descend, some have no headcounts, some years lie far apart. */
const company = (number: number): FiguresOfCompany => ({
  id: 1_000_000_000_000n - BigInt(number),
  currency: CURRENCIES[number % CURRENCIES.length],
  series: seriesOf([0, 2, 4], YEARS[number % YEARS.length] ?? [], number),
  headcounts: seriesOf(number % 3 === 0 ? [] : [0, 1], [2021, 2022], number),
  names,
})

const rowsOf = async (runRows: number, companies: number): Promise<readonly object[]> => {
  const figures = new FigureFile(join(folder, `${runRows}`), runRows)
  try {
    for (let number = 0; number < companies; number++) figures.add(company(number))
    const { from, remove } = await engine.addTable(figures.table())
    const rows = await session.rows(
      `SELECT line_item::VARCHAR AS item, internal_id::VARCHAR AS id, fiscal_year AS year, value, earlier::VARCHAR AS earlier, latest, currency FROM ${from}`,
    )
    remove()
    return rows
  } finally {
    figures.close()
  }
}

test('table gives the rows of each name together, a row for years that do not lie far apart', async () => {
  const rows = await rowsOf(1, 3)
  const at = (number: number) => String(company(number).id)
  const sek = { currency: 'SEK', latest: 1 }
  const nok = { currency: 'NOK', latest: 1 }
  const quoted = { currency: 'a "quoted" one', latest: 1 }
  const apart = (item: string, latest: number, first: number) => [
    { item, id: at(2), year: 2023, value: latest, earlier: '[]', ...quoted },
    { item, id: at(2), year: 1990, value: first, earlier: '[]', ...quoted, latest: 0 },
  ]
  const between = (item: string, last: number, list: string) => ({
    item,
    id: at(1),
    year: 2023,
    value: last,
    earlier: list,
    ...nok,
  })
  const heads = (number: number) => ({
    ...{
      item: 'Employees',
      id: at(number),
      year: 2022,
      value: number + 0.25,
      earlier: `[${number}.0]`,
      latest: 1,
      currency: null,
    },
  })
  expect(rows).toEqual([
    { item: 'EBIT', id: at(0), year: 2023, value: 0.5, earlier: '[]', ...sek },
    between('EBIT', 3, '[2.75, NULL, 2.5]'),
    ...apart('EBIT', 3.25, 3),
    heads(1),
    heads(2),
    { item: 'NetSales', id: at(0), year: 2023, value: 0.25, earlier: '[]', ...sek },
    between('NetSales', 2.25, '[2.0, NULL, 1.75]'),
    ...apart('NetSales', 2.75, 2.5),
    { item: 'TotalAssets', id: at(0), year: 2023, value: 0, earlier: '[]', ...sek },
    between('TotalAssets', 1.5, '[1.25, NULL, 1.0]'),
    ...apart('TotalAssets', 2.25, 2),
  ])
})

test('table gives the same rows whatever a run holds', async () => {
  const whole = await rowsOf(1_000_000, 3_000)
  expect(whole.length).toBeGreaterThan(3 * 2_048)
  for (const runRows of [7, 1_500, 5_000]) expect(await rowsOf(runRows, 3_000)).toEqual(whole)
})

/** The page of a comparison: each of its numbers is worked out of the records here; and the page of a figure's proof. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../../src/server/access/caller.ts'
import { FRAGMENTS, renderFor } from '../../../../src/server/explorer/pages/fragments.ts'
import { type Figure, figuresOf, valueIn } from '../../../analysis/expected.ts'
import { type SampleRecords, sampleRecords } from '../../../analysis/sample-lake.ts'
import { every, plain } from '../../../report/read-report.ts'
import { sharedLake } from '../../../support/lakes.ts'
import { EVERYTHING, openExplorer, swedish } from '../explorer-lake.ts'

let explorer: ReturnType<typeof openExplorer>
let records: SampleRecords
let figures: readonly Figure[] = []

beforeAll(async () => {
  explorer = openExplorer(await sharedLake('deliveries'))
  records = await sampleRecords()
  figures = figuresOf(records.current)
})
afterAll(() => explorer.close())

const pageOf = async (address: string, caller: Caller = EVERYTHING): Promise<string> => {
  const { page } = FRAGMENTS
  if (page === undefined) throw new TypeError('no page')
  const body = JSON.stringify({ address })
  const found = await renderFor(page, body, [explorer.ask, caller, new AbortController().signal])
  if (found.kind !== 'content') throw new TypeError(found.kind)
  return found.content.text
}

/** The rows of the table by their titles, in their order: those of shares have the same ones. */
const linesOf = (page: string): readonly (readonly string[])[] => {
  const [body = ''] = every(page, /<tbody>([\s\S]*?)<\/tbody>/g)
  return every(body, /<tr[^>]*>([\s\S]*?)<\/tr>/g).map((row) =>
    every(row, /<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g).map(plain),
  )
}

const NONE = '–not reported'
const numberOf = (text: string): number => Number(text.replaceAll(',', '').replace('−', '-'))

/** Whether a text says a number as exactly as its digits let. */
const expectShown = (text: string, value: number): void => {
  const digits = /\.(\d+)/.exec(text)?.[1]?.length ?? 0
  expect(Math.abs(numberOf(text) - value)).toBeLessThanOrEqual(0.5000001 * 10 ** -digits)
}

/** A statement that counts of the newest year with net sales. */
const newestOf = (id: number) => {
  const own = figures.filter((one) => one.id === id)
  const sales = own.filter(({ item, isPreferred }) => item === 'NetSales' && isPreferred)
  const year = Math.max(...sales.map((one) => one.year))
  const kind = sales.find((one) => one.year === year)?.consolidation
  const of = (item: string, years = 0): Figure | undefined =>
    own.find((one) => one.item === item && one.consolidation === kind && one.year === year - years)
  return { year, kind, of }
}

const compares = (one: Figure, other: Figure): boolean =>
  one.currency === other.currency &&
  (one.months === null || other.months === null || one.months === other.months)

const percent = (share: number): string => `${Math.abs(100 * share).toFixed(1)} %`

test('key figures, growth and shares of each column are those of its newest statement, in one currency', async () => {
  const ids = [
    ...new Set(
      ['SEK', 'EUR', 'NOK', 'USD'].flatMap((currency) => {
        const found = figures.filter(
          (one) => one.item === 'EBIT' && one.currency === currency && newestOf(one.id).of('EBIT'),
        )
        return found[0]?.id ?? []
      }),
    ),
  ]
  expect(ids).toHaveLength(4)
  const page = await pageOf(`compare/${ids.join(',')}?currency=EUR`)
  const [unit = '', ...heads] = every(page, /<th scope="col"[^>]*>([\s\S]*?)<\/th>/g).map(plain)
  const factor = { million: 1e6, thousand: 1e3 }[unit.split(' ')[0] ?? ''] ?? 1
  expect(unit).toMatch(/^((million|thousand) )?EUR$/)
  const lines = linesOf(page)
  expect(lines.map(([title]) => title)).toEqual([
    ...['Net sales', 'in a year', 'a year since', 'EBITDA', 'of net sales', 'EBIT', 'of net sales'],
    ...[
      'Net profit',
      'of net sales',
      'Total assets',
      'Equity',
      'of total assets',
      'Employees',
      'Net sales of each',
    ],
  ])
  for (const [at, id] of ids.entries()) {
    const { year, of } = newestOf(id)
    const cell = (line: number): string => lines[line]?.[at + 1] ?? ''
    expect(heads[at]).toContain(`${year}`)
    const sales = of('NetSales')
    if (sales === undefined) throw new TypeError('no sales')
    const amounts = { 0: 'NetSales', 3: 'EBITDA', 5: 'EBIT', 7: 'NetProfit', 9: 'TotalAssets' }
    for (const [line, item] of Object.entries(amounts)) {
      const figure = of(item)
      if (figure === undefined) expect(cell(Number(line))).toBe(NONE)
      else expectShown(cell(Number(line)), (valueIn(figure, 'EUR') ?? Number.NaN) / factor)
    }
    const before = of('NetSales', 1)
    const growth =
      before !== undefined && compares(before, sales) && before.value > 0
        ? (sales.value - before.value) / before.value
        : undefined
    if (growth === undefined) expect(cell(1)).toBe(NONE)
    else expect(cell(1)).toBe(`${growth < 0 ? '▼' : '▲'} ${percent(growth)}`)
    const shares = { 4: ['EBITDA', 'NetSales'], 6: ['EBIT', 'NetSales'], 8: ['NetProfit', 'NetSales'] }
    for (const [line, [part = '', whole = '']] of Object.entries(shares)) {
      const [figure, all] = [of(part), of(whole)]
      if (figure === undefined || all === undefined || all.value <= 0) expect(cell(Number(line))).toBe(NONE)
      else expect(cell(Number(line)).replace('−', '')).toBe(percent(figure.value / all.value))
    }
    const staff = records.current.find(({ BasicDetails }) => BasicDetails?.InternalId === id)?.EnhancedDetails
    const heads2 = staff?.Employees?.[String(year)]
    if (typeof heads2 === 'number') expectShown(cell(12), heads2)
  }
  // A chart of each on one scale: as many bars of one metric as there are figures in the years that are drawn.
  const [sales = ''] = page.split('<h2>Net sales</h2>').slice(1)
  const drawn = every(sales.split('</section>')[0] ?? '', /<rect [^>]*height="([\d.]+)"/g).map(Number)
  const kinds = ids.map(newestOf)
  const values = figures.filter(
    (one) =>
      one.item === 'NetSales' &&
      kinds.some(({ kind }, at) => one.id === ids[at] && one.consolidation === kind),
  )
  const last = Math.max(...values.map(({ year }) => year))
  expect(drawn.length).toBe(values.filter(({ year }) => year > last - 15).length)
  expect(Math.max(...drawn)).toBe(92)
})

test('a comparison leaves companies out and takes others up by links; who may not see one is told so', async () => {
  const [sek, nok] = ['SE', 'NO'].map((country) => figures.find((one) => one.country === country)?.id ?? 0)
  const both = await pageOf(`compare/${sek},${nok}?currency=USD`)
  expect(every(both, /class="drop" href="([^"]*)"/g)).toEqual([
    `#/compare/${nok}?currency=USD`,
    `#/compare/${sek}?currency=USD`,
  ])
  expect(both).toContain(`href="#/?compare=${sek}%2C${nok}"`)
  const seen = await pageOf(`compare/${sek},${nok}`, swedish())
  expect(plain(seen)).toContain(`Not there, or not to be seen with this token: ${nok}.`)
  expect(plain(await pageOf('compare/x'))).toContain('Choose up to 6 companies')
})

test('the page of a proof has the value, the load and the source; without access to loads there is no source', async () => {
  const { year, kind, of } = newestOf(
    figures.find((one) => one.country === 'SE' && one.item === 'NetSales')?.id ?? 0,
  )
  const sales = of('NetSales')
  const address = `proof/${sales?.id}/${kind}/ProfitAndLoss/NetSales/${year}`
  const page = await pageOf(address)
  expect(plain(page)).toContain(`Net sales ${year}`)
  expect(plain(every(page, /<p><b class="num">(.*?)<\/b>/g)[0] ?? '')).toMatch(
    new RegExp(
      `^${(sales?.value ?? 0).toLocaleString('en', { maximumFractionDigits: 20 })} ${sales?.currency}$`,
    ),
  )
  expect(plain(page)).toMatch(/lines 1 to \d+ of file .*companies-\d{4}\.jsonl\.br/)
  expect(every(page, /<code>([0-9a-f]{64})<\/code>/g).length).toBeGreaterThanOrEqual(2)
  const narrow = plain(await pageOf(address, swedish()))
  expect(narrow).not.toMatch(/jsonl|[0-9a-f]{64}/)
  expect(narrow).toContain('are shown to a token that may see everything')
  expect(plain(await pageOf('proof/1/Consolidated/ProfitAndLoss/NetSales/2020'))).toContain(
    'There is no such figure',
  )
})

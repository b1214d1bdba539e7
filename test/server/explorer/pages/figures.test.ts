import { expect, test } from 'vitest'
import { shownChange, shownDay, shownIn, shownNumber, shownStake } from '../../../../src/report/shown.ts'
import {
  type Figure,
  figureOf,
  figuresOfFirst,
  growthOf,
  latestOf,
  listedIn,
  shareOf,
  statementsOf,
  yearlyGrowthOf,
  yearsOf,
} from '../../../../src/server/explorer/pages/figures.ts'
import { multipleChart } from '../../../../src/server/explorer/pages/multiple-chart.ts'

const figure = (year: number, value: number, more: Partial<Figure> = {}): Figure => ({
  ...{ consolidation: 'Consolidated', category: 'ProfitAndLoss', lineItem: 'NetSales', year, value },
  ...{ name: 'Net sales', unit: 'amount', currency: 'EUR', months: null, isPreferred: true },
  ...{ earlier: [], ...more },
})

test('years without a figure are gaps between bars, and the title of a bar is its figure', () => {
  const own = [figure(2018, 10_000_000), figure(2021, 30_000_000)]
  expect(yearsOf(own, 15)).toEqual([2018, 2019, 2020, 2021])
  const { text } = multipleChart(own, [], yearsOf(own, 15), 'Net sales')
  const bars = [
    ...text.matchAll(/<rect class="(\w+)" x="([\d.]+)"[^>]* height="([\d.]+)"[^>]*><title>(.*?)<\/title>/g),
  ]
  expect(bars.map(([, tone, x, height, title]) => [tone, Number(x), Number(height), title])).toEqual([
    ['f1l', 13.8, 30.7, '2018: 10,000,000'],
    ['f1', 216.3, 92, '2021: 30,000,000'],
  ])
  expect(text).toContain('aria-label="Net sales, 2018 to 2021"')
  expect(text).not.toContain('style=')
})

test('a loss is a bar below the line, the other kind of statement a broken line with points', () => {
  const own = [figure(2019, 10), figure(2020, -5), figure(2021, 10)]
  const others = [figure(2019, 8), figure(2021, 9)].map((one) => ({
    ...one,
    consolidation: 'Unconsolidated',
  }))
  const { text } = multipleChart(own, others, [2019, 2020, 2021], 'Net sales')
  const [, loss] = [...text.matchAll(/<rect [^>]*y="([\d.]+)"/g)]
  const [zero] = [...text.matchAll(/<line [^>]*y1="([\d.]+)"/g)]
  expect(loss?.[1]).toBe(zero?.[1])
  expect(text).toMatch(/<path class="other" d="M[\d.,]+M[\d.,]+"\/>/)
  expect([...text.matchAll(/<circle/g)]).toHaveLength(2)
  expect(multipleChart([figure(2020, 1)], [], [2020], 'Net sales').text).toBe('')
})

test('growth, yearly growth and shares compare the same kind and currency, and nothing with a loss', () => {
  const own = [figure(2019, 100), figure(2020, 110), figure(2021, 121), figure(2022, 60, { currency: 'SEK' })]
  const latest = latestOf(own.slice(0, 3))
  expect(latest?.year).toBe(2021)
  if (latest === undefined) return
  expect(growthOf(own, latest)).toBeCloseTo(0.1)
  const [yearly, since] = yearlyGrowthOf(own, latest) ?? []
  expect([yearly?.toFixed(6), since]).toEqual(['0.100000', 2019])
  expect(growthOf(own, figure(2022, 60, { currency: 'SEK' }))).toBeUndefined()
  expect(growthOf([figure(2020, -1)], latest)).toBeUndefined()
  expect(growthOf([figure(2020, 100, { months: 12 })], { ...latest, months: 18 })).toBeUndefined()
  expect(growthOf([figure(2020, 100, { months: 12 })], { ...latest, months: null })).toBeCloseTo(0.21)
  expect(yearlyGrowthOf([figure(2019, 0)], latest)).toBeUndefined()
  expect(
    shareOf(
      [...own, figure(2021, 12, { lineItem: 'EBIT' })],
      figure(2021, 12, { lineItem: 'EBIT' }),
      'NetSales',
    ),
  ).toBeCloseTo(12 / 121)
  const both = [figure(2021, 1, { consolidation: 'Unconsolidated' }), figure(2021, 2), figure(2020, 3)]
  expect(latestOf(both)?.value).toBe(2)
})

test('statements have their lines in the order of the answer, and the years that have a figure, the newest first', () => {
  const ebit = { lineItem: 'EBIT', name: 'EBIT' }
  const [first, second] = statementsOf([
    ...[figure(2018, 1), figure(2021, 2), figure(2021, 3, ebit)],
    figure(2021, 4, { consolidation: 'Unconsolidated' }),
  ])
  expect([first?.years, first?.lines.map(([one]) => one?.name)]).toEqual([
    [2021, 2018],
    ['Net sales', 'EBIT'],
  ])
  expect(second?.consolidation).toBe('Unconsolidated')
})

test('rows become figures, and a picture takes the first line item that there is', () => {
  const row = {
    ...{
      consolidation: 'Consolidated',
      category: 'B',
      line_item: 'ShareholderEquity',
      name: 'Shareholder equity',
    },
    ...{ fiscal_year: 2020, value: 0, unit: 'amount', currency: null, earlier: null, is_preferred: true },
  }
  const own = figureOf(row)
  const named = { lineItem: 'ShareholderEquity', name: 'Shareholder equity' }
  expect(own).toEqual(figure(2020, 0, { category: 'B', currency: null, ...named }))
  expect(figuresOfFirst([own], ['TotalEquity', 'ShareholderEquity'])).toEqual([own])
  expect(figuresOfFirst([own], ['TotalEquity'])).toEqual([])
  expect(yearsOf([], 15)).toEqual([])
})

test('numbers, days and stakes as texts', () => {
  expect([0, 12_345.678, 0.125, -3].map(shownNumber)).toEqual(['0', '12,346', '0.125', '−3'])
  expect(listedIn([figure(2020, -215_938e6), figure(2020, 5e12, { unit: 'count' })])).toEqual([
    1e6,
    'million',
  ])
  expect(listedIn([figure(2020, 6_604_172)])).toEqual([1e3, 'thousand'])
  expect(listedIn([])).toEqual([1, ''])
  expect([215_938e6, -43e6, 4_300_000, 20_500, 0].map((value) => shownIn(value, 1e6))).toEqual([
    ...['215,938', '−43', '4.3', '0.021', '0'],
  ])
  expect(shownIn(0.0664, 1)).toBe('0.0664')
  expect([0.655, -0.065, 0, 10, 10.1, -12].map(shownChange)).toEqual([
    ...['▲ 65.5 %', '▼ 6.5 %', '0.0 %', '▲ 1,000.0 %', '▲ > 1,000 %', '▼ > 1,000 %'],
  ])
  expect([shownDay('2026-02-25T00:00:00.000Z'), shownDay('spring')]).toEqual([
    '25\u00a0Feb\u00a02026',
    'spring',
  ])
  expect(shownStake(25, 50, true)).toBe('25 to 50 %')
  expect(shownStake(33.333, 33.333, true)).toBe('33.33 %')
  expect(shownStake(0, 100, false)).toBe('not stated')
})

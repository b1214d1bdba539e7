import { expect, test } from 'vitest'
import {
  type Figure,
  figureOf,
  figuresOfFirst,
  scaleFor,
  shownNumber,
  shownStake,
  yearsOf,
} from '../../src/web/figures.ts'
import { multipleChart, unitOf } from '../../src/web/multiple-chart.ts'

const figure = (year: number, value: number, more: Partial<Figure> = {}): Figure => ({
  ...{ consolidation: 'Consolidated', category: 'ProfitAndLoss', lineItem: 'NetSales', year, value },
  ...{ currency: 'EUR', earlier: [], ...more },
})

test('years without a figure are gaps of a line, and not bridged', () => {
  const own = [figure(2018, 10_000_000), figure(2021, 30_000_000)]
  expect(yearsOf(own)).toEqual([2018, 2019, 2020, 2021])
  const { option, summary } = multipleChart(own, yearsOf(own))
  expect(option.series).toEqual([
    expect.objectContaining({
      type: 'line',
      name: 'Consolidated',
      connectNulls: false,
      data: [10, null, null, 30],
    }),
  ])
  expect(summary).toContain('2018 to 2021')
  expect(unitOf(own)).toBe('million EUR')
})

test('an earlier value stands at its year, one in another currency in the table alone', () => {
  const earlier = [
    { value: 20, currency: 'EUR', until_snapshot: 2 },
    { value: 99, currency: 'SEK', until_snapshot: 3 },
  ]
  const own = [figure(2020, 25, { earlier }), figure(2020, 7, { consolidation: 'Unconsolidated' })]
  const { option } = multipleChart(own, [2020])
  expect(option.series).toEqual([
    expect.objectContaining({ name: 'Consolidated', symbol: 'circle' }),
    expect.objectContaining({ name: 'Unconsolidated', symbol: 'triangle' }),
    expect.objectContaining({ type: 'scatter', data: [['2020', 20]] }),
  ])
})

test('rows become figures, and a picture takes the first line item that there is', () => {
  const row = {
    consolidation: 'Consolidated',
    category: 'B',
    line_item: 'ShareholderEquity',
    fiscal_year: 2020,
    value: 0,
  }
  const own = figureOf({ ...row, currency: null, earlier: null })
  expect(own).toEqual(figure(2020, 0, { category: 'B', lineItem: 'ShareholderEquity', currency: null }))
  expect(figuresOfFirst([own], ['TotalEquity', 'ShareholderEquity'])).toEqual([own])
  expect(figuresOfFirst([own], ['TotalEquity'])).toEqual([])
  expect(yearsOf([])).toEqual([])
})

test('numbers and stakes as texts', () => {
  expect([0, 12_345.678, 0.125, -3].map(shownNumber)).toEqual(['0', '12,346', '0.125', '-3'])
  expect(scaleFor([-20_000_000_000, 5])).toEqual([1e9, 'billion'])
  expect(scaleFor([])).toEqual([1, ''])
  expect(shownStake(25, 50, true)).toBe('25 to 50 %')
  expect(shownStake(33.333, 33.333, true)).toBe('33.33 %')
  expect(shownStake(0, 100, false)).toBe('not stated')
})

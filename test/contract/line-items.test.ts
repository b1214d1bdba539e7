import { expect, test } from 'vitest'
import { CATEGORIES, LINE_ITEMS, UNITS } from '../../src/contract/line-items.ts'

const countBy = (key: 'category' | 'unit') =>
  Object.fromEntries(
    Object.entries(Object.groupBy(LINE_ITEMS, (item) => item[key])).map(([k, v]) => [k, v?.length]),
  )

test('LINE_ITEMS holds every key of the interface, category by category', () => {
  expect(CATEGORIES).toEqual([
    'BalanceSheet',
    'ProfitAndLoss',
    'CashFlow',
    'KeyFinancialRatio',
    'UltimateParent',
    'OtherFinancialItems',
  ])
  expect(countBy('category')).toEqual({
    BalanceSheet: 24,
    ProfitAndLoss: 21,
    CashFlow: 3,
    KeyFinancialRatio: 44,
    UltimateParent: 4,
    OtherFinancialItems: 8,
  })
  expect(LINE_ITEMS).toHaveLength(104)
})

test('LINE_ITEMS gives each item the unit of the open points and scales amounts only', () => {
  expect(countBy('unit')).toEqual({
    amount: 24 + 21 + 3 + 4 + 6 + 1,
    'per share': 2,
    ratio: 44 - 6 - 2 - 1 + 3,
    count: 2,
    month: 1,
    months: 1,
    class: 1,
  })
  for (const { unit, scaled } of LINE_ITEMS) {
    expect(UNITS).toContain(unit)
    expect(scaled).toBe(unit === 'amount')
  }
})

test('LINE_ITEMS calls amounts and per-share figures money, and nothing else', () => {
  const statements = ['BalanceSheet', 'ProfitAndLoss', 'CashFlow', 'UltimateParent']
  const others = LINE_ITEMS.filter(({ isMoney, category }) => isMoney && !statements.includes(category))
  expect(new Set(others.map(({ lineItem }) => lineItem))).toEqual(
    new Set([
      ...['Dividends', 'EV', 'MarketCap', 'NetCapex', 'NetDebt', 'RetainedEarnings', 'TotalShareIssueAmount'],
      ...['DPS', 'EPS'],
    ]),
  )
  expect(LINE_ITEMS.filter(({ isMoney, category }) => !isMoney && statements.includes(category))).toEqual([])
})

test('LINE_ITEMS names an item in one category only', () => {
  expect(new Set(LINE_ITEMS.map(({ lineItem }) => lineItem)).size).toBe(LINE_ITEMS.length)
})

test('LINE_ITEMS keeps the spelling of the interface', () => {
  const names: readonly string[] = LINE_ITEMS.map(({ lineItem }) => lineItem)
  for (const name of ['PersonelExpenses', 'CashFlowBeforeFinancialActivites', 'UltimateParentNetSales']) {
    expect(names).toContain(name)
  }
  expect(names).not.toContain('UltimateParentNetSalesNet')
})

/** Numbers and small pictures as text. */

import { expect, test } from 'vitest'
import { numbersIn, scaleOf } from '../../src/report/numbers.ts'
import { barCell, mostOf, sparkline, stackedBar } from '../../src/report/svg.ts'

test('numbers are grouped as the language does, with a true minus', () => {
  const [en, sv, de] = ['en', 'sv', 'de'].map(numbersIn)
  expect([en?.exact(-1234567.125), en?.whole(1234.5678), en?.exact(12345678901234567890n)]).toEqual([
    '−1,234,567.125',
    '1,235',
    '12,345,678,901,234,567,890',
  ])
  expect([sv?.whole(-12345), de?.fixed(1418.3, 1)]).toEqual(['−12\u00a0345', '1.418,3'])
  expect([en?.signed(12), en?.signed(-2), en?.signed(0), en?.signed(-0.04, 1)]).toEqual([
    '+12',
    '−2',
    '0',
    '0.0',
  ])
  expect(en?.percent(0.0005)).toBe('0.05\u00a0%')
  expect([en?.percent(0.697), en?.percent(0.1), en?.percent(-0.5)]).toEqual([
    '69.7\u00a0%',
    '10\u00a0%',
    '−50\u00a0%',
  ])
  expect([scaleOf([12, -4_200_000]), scaleOf([999]), scaleOf([])]).toEqual([
    [1e6, 'm'],
    [1, ''],
    [1, ''],
  ])
})

test('a bar beyond the width has a break, a small one is seen, and only one that hides all others is cut', () => {
  expect(mostOf([79, 421, 186])).toBe(421)
  expect(mostOf([1000, 10, 4])).toBe(15)
  expect(mostOf([3])).toBe(3)
  const cut = barCell(1000, 15).text
  expect(cut).toContain('width="100"')
  expect(cut).toContain('class="cut"')
  expect(barCell(421, 421).text).not.toContain('class="cut"')
  expect(barCell(1, 100_000).text).toContain('width="0.8"')
  expect(barCell(0, 0).text).not.toContain('<rect')
  expect(barCell(25, 100, { light: 50 }).text).toMatch(
    /class="f1" x="0" width="25".*class="f1l" x="25" width="25"/,
  )
  expect(stackedBar([{ value: 1, tone: 'f2' }, { value: 3 }], 4).text).toMatch(
    /class="f2" x="0" width="25".*class="f1" x="25" width="75"/,
  )
})

test('a line goes from its least at the bottom to its most at the top; one value is none', () => {
  expect(sparkline([1, 3, 2]).text).toContain('d="M2,27 60,3 118,15"')
  expect(sparkline([5, 5]).text).toContain('d="M2,15 118,15"')
  expect(sparkline([5]).text).toBe('')
})

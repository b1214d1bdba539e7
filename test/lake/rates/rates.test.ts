import { expect, test } from 'vitest'
import { mergedTables, ratesOf } from '../../../src/lake/rates/rates.ts'

const table = (rates: Record<string, Record<number, number>>) =>
  new Map(
    Object.entries(rates).map(([currency, years]) => [
      currency,
      new Map(Object.entries(years).map(([year, units]) => [Number(year), units])),
    ]),
  )

test('ratesOf converts by way of the US dollar', () => {
  const rates = ratesOf(table({ SEK: { 2020: 10 }, EUR: { 2020: 0.8 } }))
  expect(rates.factor('SEK', 'EUR', 2020)).toBe(0.08)
  expect(rates.factor('USD', 'SEK', 2020)).toBe(10)
  expect(rates.factor('EUR', 'USD', 2020)).toBe(1.25)
  expect(rates.factor('SEK', 'SEK', 2020)).toBe(1)
})

test('ratesOf lets the latest year stand in for later ones and the first for earlier ones', () => {
  const rates = ratesOf(table({ SEK: { 2022: 11, 2020: 10 } }))
  expect([1950, 2020, 2021, 2022, 2099].map((year) => rates.factor('USD', 'SEK', year))).toEqual([
    10, 10, 10, 11, 11,
  ])
})

test('ratesOf has no factor where either currency has no rate', () => {
  const rates = ratesOf(table({ SEK: { 2020: 10 } }))
  expect(rates.factor('SEK', 'PLN', 2020)).toBeUndefined()
  expect(rates.factor('PLN', 'SEK', 2020)).toBeUndefined()
  expect(rates.factor('PLN', 'PLN', 2020)).toBeUndefined()
  expect([rates.has('PLN'), rates.has('SEK'), rates.has('USD')]).toEqual([false, true, true])
  expect(rates.currencies).toEqual(['SEK', 'USD'])
})

test('mergedTables replaces and adds by currency and year and leaves its tables as they were', () => {
  const first = table({ SEK: { 2020: 10, 2021: 9 } })
  const merged = mergedTables(first, table({ SEK: { 2021: 8, 2022: 7 }, PLN: { 2020: 4 } }))
  expect(merged).toEqual(table({ SEK: { 2020: 10, 2021: 8, 2022: 7 }, PLN: { 2020: 4 } }))
  expect(first).toEqual(table({ SEK: { 2020: 10, 2021: 9 } }))
})

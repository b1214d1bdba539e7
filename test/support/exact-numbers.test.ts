import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shiftDecimal, shiftNumber } from '../../src/support/exact-numbers.ts'
import { decimals } from './decimals.ts'
import { exactProduct } from './exact-product.ts'

test('exactProduct rounds to the nearest double, of two as near to the even one', () => {
  const cases: [decimal: string, power: number, product: number][] = [
    ['0', 9, 0],
    ['-0.1', 0, -0.1],
    ['9007199254740993', 0, 9007199254740992],
    ['9007199254740995', 0, 9007199254740996],
    ['9007.199254740993000000000001', 12, 9007199254740994],
    ['2.47e-324', 0, 0],
    ['2.48e-324', 0, 5e-324],
    ['2.2250738585072014e-308', 0, 2 ** -1022],
    ['1.7976931348623157e308', 0, Number.MAX_VALUE],
    ['1.7976931348623159', 308, Number.POSITIVE_INFINITY],
  ]
  expect(cases.map(([decimal, power]) => exactProduct(decimal, power))).toEqual(cases.map((one) => one[2]))
  fc.assert(fc.property(decimals, (decimal) => Object.is(exactProduct(decimal, 0), Number(decimal))))
})

test('shiftDecimal gives the double nearest to the exact product', () => {
  expect(shiftDecimal('2130.7', 6)).toBe(2_130_700_000)
  fc.assert(
    fc.property(decimals, fc.integer({ min: -9, max: 9 }), (decimal, power) => {
      expect(shiftDecimal(decimal, power)).toBe(exactProduct(decimal, power))
    }),
    { numRuns: 20_000 },
  )
})

test('shiftDecimal takes exponents of any length', () => {
  const nines = '9'.repeat(400)
  expect(['e', 'e-', 'E+'].map((sign) => shiftDecimal(`-1${sign}${nines}`, 3))).toEqual([
    Number.NEGATIVE_INFINITY,
    -0,
    Number.NEGATIVE_INFINITY,
  ])
  expect(shiftDecimal(`0.${'0'.repeat(999)}1e1000`, 3)).toBe(1000)
})

test('shiftNumber gives the double nearest to the product of the shortest decimal', () => {
  fc.assert(
    fc.property(decimals, fc.constantFrom(0, 3, 6, 9), (decimal, power) => {
      const value = Number(decimal)
      expect(shiftNumber(value, power)).toBe(Object.is(value, -0) ? -0 : exactProduct(String(value), power))
    }),
    { numRuns: 20_000 },
  )
})

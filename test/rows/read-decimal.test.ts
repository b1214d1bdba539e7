import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDecimal } from '../../src/rows/read-decimal.ts'
import { decimals } from '../support/decimals.ts'
import { exactProduct } from '../support/exact-product.ts'

const read = (text: string, power: number): number => readDecimal(Buffer.from(`:${text},"`), 1, power)

test('readDecimal gives the double nearest to the exact product, for every decimal', () => {
  fc.assert(
    fc.property(decimals, fc.constantFrom(0, 3, 6, 9), (text, power) => {
      expect([text, power, read(text, power) + 0]).toEqual([text, power, exactProduct(text, power) + 0])
    }),
    { numRuns: 20_000 },
  )
})

test('readDecimal gives the nearest double for decimals of 16 to 22 digits, those halfway between two included', () => {
  const digits = fc
    .tuple(fc.bigInt({ min: 10n ** 15n, max: 10n ** 22n - 1n }), fc.integer({ min: 0, max: 30 }))
    .map(([whole, places]) => {
      const text = String(whole).padStart(places + 1, '0')
      return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`
    })
  fc.assert(
    fc.property(digits, fc.constantFrom(0, 3, 6, 9), (text, power) => {
      expect([text, power, read(text, power)]).toEqual([text, power, exactProduct(text, power)])
      expect(read(`-${text}`, power)).toBe(-read(text, power))
    }),
    { numRuns: 20_000 },
  )
})

test('readDecimal reads what stands in quotes and at the end of its buffer', () => {
  expect(readDecimal(Buffer.from('12345678901234567890'), 0, 0)).toBe(Number('12345678901234567890'))
  expect(readDecimal(Buffer.from('"1.5e3"'), 1, 3)).toBe(1_500_000)
  expect(readDecimal(Buffer.from('-0.0,'), 0, 3)).toBe(-0)
})

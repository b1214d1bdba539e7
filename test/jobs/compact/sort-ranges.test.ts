import { expect, test } from 'vitest'
import { isWorthRanges } from '../../../src/jobs/compact/sort-ranges.ts'

const groups = (...bounds: readonly (readonly [least: bigint, greatest: bigint])[]) =>
  bounds.map(([least, greatest]) => ({ rows: 100, least, greatest }))

test('ranges are sorted by themselves where the records of a row group are of few ranges', () => {
  const bounds = [10n, 20n, 30n, 40n, 50n]
  expect(isWorthRanges(groups([1n, 10n], [11n, 20n], [21n, 60n]), bounds)).toBe(true)
  expect(isWorthRanges(groups([1n, 60n], [2n, 59n]), bounds)).toBe(false)
  // Nightly changes over all ids beside files in order.
  expect(isWorthRanges(groups([1n, 60n], [1n, 9n], [11n, 19n], [21n, 29n], [31n, 39n]), bounds)).toBe(true)
})

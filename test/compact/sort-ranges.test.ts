import { expect, test } from 'vitest'
import { isWorthRanges } from '../../src/compact/sort-ranges.ts'

const groups = (...bounds: readonly (readonly [min: bigint, max: bigint])[]) =>
  bounds.map(([min, max]) => ({ rows: 100, min, max }))

test('ranges are sorted by themselves unless each row group holds records of more than a hundred', () => {
  const bounds = Array.from({ length: 199 }, (_, at) => BigInt(10 * (at + 1)))
  expect(isWorthRanges(groups([1n, 10n], [11n, 20n], [21n, 1990n]), bounds)).toBe(true)
  expect(isWorthRanges(groups([1n, 1999n], [2n, 1998n]), bounds)).toBe(false)
  expect(isWorthRanges(groups([1n, 1999n], [2n, 1998n]), bounds.slice(0, 99))).toBe(true)
  // Nightly changes over all ids beside files in order.
  expect(isWorthRanges(groups([1n, 1999n], [1n, 9n], [11n, 19n], [21n, 29n]), bounds)).toBe(true)
})

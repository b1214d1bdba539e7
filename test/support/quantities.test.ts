import { expect, test } from 'vitest'
import { parseSize } from '../../src/support/quantities.ts'

test.each([
  ['1GiB', 1024 ** 3],
  ['512MB', 512e6],
  ['800000000', 800_000_000],
  [' 1.5 k ', 1500],
  ['20 gb', 20e9],
  ['2Ti', 2 * 1024 ** 4],
  ['7b', 7],
  ['0', 0],
])('parseSize reads %j', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
})

test.each(['', 'GiB', '-1', '1e9', '1 GiB of it', '1xb', '1bi'])('parseSize takes %j for no size', (text) => {
  expect(parseSize(text)).toBeUndefined()
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeInstant, writeNumber } from '../../src/restore/number-text.ts'

const bytes = Buffer.alloc(64)
const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const written = (value: number): string => bytes.toString('latin1', 3, writeNumber(words, 3, value))
const asString = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))

test('writeNumber writes what String does, of numbers of every kind', () => {
  const figures = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc
      .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 6 }))
      .map(([whole, digits]) => whole / 10 ** digits),
  )
  fc.assert(
    fc.property(figures, (value) => written(value) === asString(value)),
    { numRuns: 20_000 },
  )
})

test.each([
  0,
  -0,
  9,
  10,
  9999,
  10_000,
  99_999_999,
  100_000_000,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  -(2 ** 31) - 1,
  2 ** 53,
  -(2 ** 53),
  1e15,
  1e21,
  0.1,
  -0.0001,
  1e-5,
  12_345.6789,
  10_000_000_000.0001,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
])('writeNumber writes %d', (value) => expect(written(value)).toBe(asString(value)))

const DAY_MS = 86_400_000
const YEAR_100 = Math.ceil(new Date('0100-01-01T00:00:00Z').getTime() / DAY_MS)
const YEAR_9999 = Math.floor(Date.UTC(9999, 11, 31) / DAY_MS)

test('writeInstant writes the date and the time of any day', () => {
  const day = fc.integer({ min: YEAR_100, max: YEAR_9999 })
  fc.assert(
    fc.property(day, fc.integer({ min: 0, max: DAY_MS - 1 }), (days, ms) => {
      const text = bytes.toString('latin1', 0, writeInstant(words, 0, days, ms * 1000))
      return text === new Date(days * DAY_MS + ms).toISOString().replace(/\.?0*Z$/, '')
    }),
    { numRuns: 5_000 },
  )
})

test.each([
  [0, 0, '1970-01-01T00:00:00'],
  [-1, 86_399_999_999, '1969-12-31T23:59:59.999999'],
  [-719_162, 0, '0001-01-01T00:00:00'],
  [19_782, 500_000, '2024-02-29T00:00:00.5'],
  [-719_163, 0, ''],
  [2_932_897, 0, ''],
])('writeInstant writes day %d and %d microseconds as "%s"', (days, time, text) =>
  expect(bytes.toString('latin1', 0, writeInstant(words, 0, days, time))).toBe(text),
)

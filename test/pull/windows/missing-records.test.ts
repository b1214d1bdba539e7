import { expect, test } from 'vitest'
import { isShort, missingFrom } from '../../../src/pull/windows/missing-records.ts'

const WHOLE = { announced: 0, planned: 0 }

test.each([
  [25, 25],
  [25, 15],
  [10, 0],
  [10_000, 9990],
  [20_000, 19_980],
  [1_000_000, 999_000],
  [5, 8],
])('of %d records %d may have come: the others moved', (announced, received) => {
  expect(missingFrom({ announced, received }, {}, WHOLE)).toBeUndefined()
  expect(isShort({ planned: announced, received })).toBe(false)
})

test.each([
  [25, 14],
  [25, 0],
  [11, 0],
  [10_000, 9989],
  [20_000, 19_979],
  [1_000_000, 998_999],
])('of %d records %d are too few', (announced, received) => {
  expect(missingFrom({ announced, received }, {}, WHOLE)).toEqual({
    kind: 'counted',
    asked: announced,
    came: received,
  })
  expect(isShort({ planned: announced, received })).toBe(true)
})

test('a gap counts, unless it was to be left out', () => {
  const plan = { announced: 120, planned: 100 }
  expect(missingFrom({ announced: 120, received: 100 }, {}, plan)).toMatchObject({ asked: 120, came: 100 })
  const left = { closeGap: false }
  expect(missingFrom({ announced: 120, received: 100 }, left, plan)).toBeUndefined()
  expect(missingFrom({ announced: 120, received: 80 }, left, plan)).toMatchObject({ asked: 100, came: 80 })
})

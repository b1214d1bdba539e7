import { expect, test } from 'vitest'
import { excessText } from '../../src/commit/quarantine-limit.ts'

test('excessText shows that the one is more than the other, however near they are', () => {
  const limit = { kind: 'share', share: 0.01 } as const
  expect([
    excessText(limit, 190, 2000, 'lines are bad'),
    excessText(limit, 100_001, 10_000_000, 'lines are bad'),
    excessText({ kind: 'count', lines: 5 }, 6, 1000, 'lines are bad'),
  ]).toEqual([
    '190 of 2,000 lines are bad (9.5 %), more than the 1 %',
    '100,001 of 10,000,000 lines are bad (1.00001 %), more than the 1 %',
    '6 of 1,000 lines are bad, more than the 5',
  ])
})

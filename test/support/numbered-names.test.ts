import { expect, test } from 'vitest'
import { byNumberedName } from '../../src/support/numbered-names.ts'

test.each([
  [['firms-10', 'firms-9', 'firms-100']],
  [['firms-2026-1-10.jsonl', 'firms-2026-1-9.jsonl', 'firms-2026-10-1.jsonl', 'firms-2026-2-1.jsonl']],
  [['10/c.jsonl', '9/c.jsonl']],
  [['b', 'a10', 'a9b', 'a9', 'a']],
])('byNumberedName compares numbers by their values: %j', (names) => {
  const expected: Record<number, readonly string[]> = {
    3: ['firms-9', 'firms-10', 'firms-100'],
    4: ['firms-2026-1-9.jsonl', 'firms-2026-1-10.jsonl', 'firms-2026-2-1.jsonl', 'firms-2026-10-1.jsonl'],
    2: ['9/c.jsonl', '10/c.jsonl'],
    5: ['a', 'a9', 'a9b', 'a10', 'b'],
  }
  expect(names.toSorted(byNumberedName)).toEqual(expected[names.length])
})

test('byNumberedName takes no two names for equal, however they are padded and long', () => {
  const names = ['a01', 'a1', 'a001', `a${'9'.repeat(40)}`, `a1${'0'.repeat(40)}`]
  expect(names.toSorted(byNumberedName)).toEqual([
    'a001',
    'a01',
    'a1',
    `a${'9'.repeat(40)}`,
    `a1${'0'.repeat(40)}`,
  ])
})

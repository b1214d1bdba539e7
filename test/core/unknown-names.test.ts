import { expect, test } from 'vitest'
import type { Drift } from '../../src/core/partition.ts'
import { DriftBudget, moreDrift } from '../../src/core/unknown-names.ts'

const field = (name: string, records = 1): Drift => ({ kind: 'field', name, records })

test('DriftBudget keeps so many names, and puts one entry in place of the rest', () => {
  const budget = new DriftBudget(3)
  expect(budget.bound([field('a', 9), field('b', 5)])).toEqual([field('a', 9), field('b', 5)])
  expect(budget.bound([field('b', 4), field('c', 3), field('d', 2), field('e')])).toEqual([
    field('b', 4),
    field('c', 3),
    { kind: 'more', name: 'and 2 more', names: 2, records: 2 },
  ])
})

test('DriftBudget adds to what stands for more already', () => {
  const budget = new DriftBudget(1)
  expect(budget.bound([field('a'), moreDrift(1500, 7)])).toEqual([field('a'), moreDrift(1500, 7)])
  expect(budget.bound([field('b'), moreDrift(1500, 7)])).toEqual([
    { kind: 'more', name: 'and 1,501 more', names: 1501, records: 7 },
  ])
})

test('DriftBudget writes a name of many partitions down ten times for each name there may be', () => {
  const budget = new DriftBudget(2)
  const kept = Array.from({ length: 30 }, () => budget.bound([field('a')])[0]?.kind)
  expect(kept.filter((kind) => kind === 'field')).toHaveLength(20)
  expect(kept.at(-1)).toBe('more')
})

test('DriftBudget says whether a drift is within the bounds', () => {
  const budget = new DriftBudget(1)
  expect([budget.add([field('a')]), budget.add([field('a'), moreDrift(5, 5)])]).toEqual([true, true])
  expect(budget.add([field('b')])).toBe(false)
})

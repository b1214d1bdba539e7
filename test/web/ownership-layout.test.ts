import { expect, test } from 'vitest'
import { layOut, MOST_NODES } from '../../src/web/ownership-layout.ts'

const row = (direction: string, level: number, owner: number, owned: number, more: object = {}) => ({
  ...{ direction, level, owner, owned, owner_kind: 'company', owned_kind: 'company' },
  ...{ owner_name: `C${owner}`, owned_name: `C${owned}`, owner_id: owner, owned_id: owned },
  ...{ min_stake: 50, max_stake: 50, is_stated: true, is_cycle: false, ...more },
})

test('owners stand at the left and holdings at the right, a column a level', () => {
  const { nodes, lines, left } = layOut([row('up', 1, 1, 0), row('up', 2, 2, 1), row('down', 1, 0, 3)])
  expect(nodes.toSorted((a, b) => a.x - b.x).map(({ number }) => number)).toEqual([2, 1, 0, 3])
  expect(new Set(nodes.map(({ x }) => x)).size).toBe(4)
  expect(lines).toHaveLength(3)
  expect(left).toBe(0)
})

test('a line is as thick as the stake; ranges and what is not stated are dashed, circles marked', () => {
  const { lines } = layOut([
    row('up', 1, 1, 0, { min_stake: 100, max_stake: 100 }),
    row('up', 1, 2, 0, { min_stake: 25, max_stake: 50, is_cycle: true }),
    row('up', 1, 3, 0, { min_stake: 0, max_stake: 100, is_stated: false }),
  ])
  expect(lines.map(({ width, isRange, isCycle, label }) => [width, isRange, isCycle, label])).toEqual([
    [8, false, false, '100 %'],
    [4.5, true, true, '↺ 25 to 50 %'],
    [1, true, false, 'not stated'],
  ])
})

test('a company that is its own owner stands once', () => {
  const { nodes, lines } = layOut([row('up', 1, 0, 0, { is_cycle: true })])
  expect([nodes.length, lines.length]).toEqual([1, 1])
})

test('at most 200 nodes are drawn, the nearest; the others are counted', () => {
  const rows = Array.from({ length: 150 }, (_, at) => row('up', 1, at + 1, 0)).concat(
    Array.from({ length: 150 }, (_, at) => row('up', 2, at + 151, at + 1)),
  )
  const { nodes, left } = layOut(rows)
  expect([nodes.length, left]).toEqual([MOST_NODES, 101])
  expect(nodes.filter(({ number }) => number <= 150)).toHaveLength(151)
})

test('a protected person has no name and no page, whatever the row says', () => {
  const { nodes } = layOut([row('up', 1, 1, 0, { owner_kind: 'protected', owner_name: 'X', owner_id: null })])
  expect(nodes.find(({ number }) => number === 1)).toMatchObject({ name: 'protected', id: null })
})

import { expect, test } from 'vitest'
import { type Graph, layOut, MOST_NODES } from '../../../../src/server/explorer/pages/ownership-layout.ts'

const row = (direction: string, level: number, owner: number, owned: number, more: object = {}) => ({
  ...{ direction, level, owner, owned, owner_kind: 'company', owned_kind: 'company' },
  ...{ owner_name: `C${owner}`, owned_name: `C${owned}`, owner_id: owner, owned_id: owned },
  ...{ min_stake: 50, max_stake: 50, is_stated: true, is_cycle: false, ...more },
})

const picture = (rows: Parameters<typeof layOut>[0]): Graph => {
  const graph = layOut(rows)
  if (graph === undefined) throw new TypeError('Cannot read a picture: there are too many nodes')
  return graph
}

test('owners stand at the left and holdings at the right, a column a level', () => {
  const { nodes, lines } = picture([row('up', 1, 1, 0), row('up', 2, 2, 1), row('down', 1, 0, 3)])
  expect(nodes.toSorted((a, b) => a.x - b.x).map(({ number }) => number)).toEqual([2, 1, 0, 3])
  expect(new Set(nodes.map(({ x }) => x)).size).toBe(4)
  expect(lines).toHaveLength(3)
})

test('ranges and what is not stated are dashed, circles marked', () => {
  const { lines } = picture([
    row('up', 1, 1, 0, { min_stake: 100, max_stake: 100 }),
    row('up', 1, 2, 0, { min_stake: 25, max_stake: 50, is_cycle: true }),
    row('up', 1, 3, 0, { min_stake: 0, max_stake: 100, is_stated: false }),
  ])
  expect(lines.map(({ isRange, isCycle, label }) => [isRange, isCycle, label])).toEqual([
    [false, false, '100 %'],
    [true, true, '↺ 25 to 50 %'],
    [true, false, 'not stated'],
  ])
})

test('a company that is its own owner stands once', () => {
  const { nodes, lines } = picture([row('up', 1, 0, 0, { is_cycle: true })])
  expect([nodes.length, lines.length]).toEqual([1, 1])
})

test('a group of more than twelve has no picture', () => {
  const owners = (count: number) => Array.from({ length: count }, (_, at) => row('up', 1, at + 1, 0))
  expect(picture(owners(MOST_NODES - 1)).nodes).toHaveLength(MOST_NODES)
  expect(layOut(owners(MOST_NODES))).toBeUndefined()
})

test('a protected person has no name and no page, whatever the row says', () => {
  const { nodes } = picture([
    row('up', 1, 1, 0, { owner_kind: 'protected', owner_name: 'X', owner_id: null }),
  ])
  expect(nodes.find(({ number }) => number === 1)).toMatchObject({ name: 'protected', id: null })
})

import { expect, test } from 'vitest'
import { rowsOfTree, type TreeRow, treeOf } from '../../../../src/server/explorer/pages/ownership-tree.ts'

const row = (owner: number, owned: number, more: object = {}) => ({
  ...{
    owner,
    owned,
    owner_kind: 'company',
    owned_kind: 'company',
    owner_name: `C${owner}`,
    owned_name: `C${owned}`,
  },
  ...{ owner_id: owner, owned_id: owned, owner_country: 'SE', owned_country: 'SE' },
  ...{ min_stake: 50, max_stake: 50, is_stated: true, is_cycle: false, ...more },
})

/** `3(4 5)` for company 3 with 4 and 5 below; `↺` a circle, `^` one whose branch stands elsewhere. */
const outline = (tree: readonly TreeRow[]): string =>
  tree
    .map(({ number, isCircle, isElsewhere, children }) => {
      const mark = isCircle ? '↺' : isElsewhere ? '^' : ''
      return `${number}${mark}${children.length === 0 ? '' : `(${outline(children)})`}`
    })
    .join(' ')

test('holdings go down from the company, owners up from it, the largest groups first', () => {
  const rows = [row(0, 1), row(0, 2), row(2, 3), row(2, 4, { max_stake: 90 }), row(5, 0), row(6, 5)]
  const holdings = treeOf(rows, 'owner')
  expect(outline(holdings)).toBe('2(4 3) 1')
  expect(outline(treeOf(rows, 'owned'))).toBe('5(6)')
  expect(holdings[0]).toMatchObject({
    below: 2,
    levels: 2,
    name: 'C2',
    id: '2',
    country: 'SE',
    min: 50,
    max: 50,
  })
  expect(rowsOfTree(holdings).map(({ number }) => number)).toEqual([2, 4, 3, 1])
})

test('a circle ends where it comes back, and a company that is met twice has its branch once, where it is nearest', () => {
  const rows = [row(0, 1), row(1, 2), row(2, 0), row(0, 2), row(2, 3)]
  expect(outline(treeOf(rows, 'owner'))).toBe('2(0↺ 3) 1(2^)')
  expect(outline(treeOf([row(0, 0)], 'owner'))).toBe('0↺')
  expect(treeOf([row(0, 0)], 'owner')[0]?.levels).toBe(0)
})

test('a thousand holdings that own each other are not more rows than holdings', () => {
  const rows = Array.from({ length: 30 }, (_, owner) =>
    Array.from({ length: 30 }, (_, owned) => row(owner, owned)),
  ).flat()
  expect(rowsOfTree(treeOf(rows, 'owner')).length).toBeLessThanOrEqual(rows.length)
})

test('an id beyond 2^53 stays as it is, a protected person has no name', () => {
  const [one] = treeOf([row(1, 0, { owner_id: '9007199254740993' })], 'owned')
  expect(one?.id).toBe('9007199254740993')
  const hidden = { owner_kind: 'protected', owner_name: 'X', owner_id: null, owner_country: null }
  expect(treeOf([row(1, 0, hidden)], 'owned')[0]).toMatchObject({
    name: 'protected',
    id: null,
    country: null,
  })
})

import { expect, test } from 'vitest'
import { nearestName } from '../../src/support/nearest-name.ts'

test.each([
  ['from', ['bom', 'lake'], undefined],
  ['foo', ['to', 'bom'], undefined],
  ['x', ['to', 'y'], undefined],
  ['tu', ['by', 'to'], 'to'],
  ['lkae', ['cap', 'lake'], 'lake'],
  ['compnies_histroy', ['companies', 'companies_history'], 'companies_history'],
])('nearestName(%j, %j) is %j', (given, names, near) => {
  expect(nearestName(given, names)).toBe(near)
})

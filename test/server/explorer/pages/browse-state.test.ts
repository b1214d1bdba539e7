import { expect, test } from 'vitest'
import {
  browseFilter,
  isChosen,
  linkOf,
  pageRows,
  sortedBy,
  stateOf,
  toggled,
} from '../../../../src/server/explorer/pages/browse-state.ts'

const stateAt = (link: string) => stateOf(link.split('?')[1] ?? '')

test('every state is a link that gives the same state again', () => {
  for (const link of [
    '#/',
    '#/?country=SE&country=NO&industry=64.202',
    '#/?status=',
    '#/?text=a+%26+b%2Fc%3F%23&order=name&direction=desc&from=70',
    '#/?size=other&size=none&order=growth&direction=asc',
  ]) {
    expect(linkOf(stateAt(link))).toBe(link)
  }
})

test('parameters that nobody wrote here are left out', () => {
  expect(linkOf(stateOf('country=SE&country=SE&order=rank&direction=up&from=-1&x=1'))).toBe('#/?country=SE')
  expect(linkOf(stateOf('from=1e99&from=2'))).toBe('#/')
  expect(stateOf(`text=${'x'.repeat(300)}`).text).toHaveLength(200)
})

test('a value is chosen beside others of its facet and left out again, each time from the first row on', () => {
  const state = stateAt('#/?country=SE&from=20')
  const both = toggled(state, 'country', 'NO')
  expect([linkOf(both), isChosen(both, 'country', 'NO')]).toEqual(['#/?country=SE&country=NO', true])
  const unplaced = toggled(toggled(both, 'country', 'SE'), 'status', '')
  expect(browseFilter(unplaced)).toEqual({ country: ['NO'], status: [''] })
  expect(linkOf(toggled(toggled(unplaced, 'country', 'NO'), 'status', ''))).toBe('#/')
})

test('an order begins as one reads it, and turns round when it is chosen again', () => {
  const state = stateAt('#/?country=SE&from=20')
  const byName = sortedBy(state, 'name')
  expect([byName.direction, linkOf(byName)]).toEqual(['asc', '#/?country=SE&order=name'])
  expect(linkOf(sortedBy(byName, 'name'))).toBe('#/?country=SE&order=name&direction=desc')
  expect(linkOf(sortedBy(state, 'sales'))).toBe('#/?country=SE&direction=asc')
})

test('the first page of the list is short, the next ones have fifty rows', () => {
  expect([pageRows(0), pageRows(20), pageRows(70)]).toEqual([20, 50, 50])
})

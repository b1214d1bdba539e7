/** The comments that every door gives: of a column that must not be added over several currencies, consolidations or kinds. */

import { expect, test } from 'vitest'
import { definitionsFor } from '../../../src/analysis/definitions.ts'
import { catalog } from '../../../src/lake/views/catalog.ts'
import { baseComments, commentsOf } from '../../../src/lake/views/comments.ts'

const columnsNamed = (name: string): (readonly [view: string, about: string])[] =>
  catalog().flatMap((entry) =>
    entry.columns.flatMap((one) => (one.name === name ? [[entry.name, one.about] as const] : [])),
  )

/** Columns of these names that hold nothing to add, or one value a company in one currency. */
const ONE_CURRENCY = ['figures_in']
const NO_FIGURES = ['company_profiles', 'rates', 'rates_by_year', 'pulls', 'sources']

test('value says what must not be added', () => {
  const own = columnsNamed('value').filter(
    ([view]) => !view.startsWith('quality_') && !ONE_CURRENCY.includes(view),
  )
  expect(own.map(([view]) => view)).toEqual(expect.arrayContaining(['financials', 'figures', 'growth']))
  for (const [view, about] of own) expect([view, about]).toEqual([view, expect.stringMatching(/do not add/i)])
})

test('currency says that several do not add up', () => {
  const own = columnsNamed('currency').filter(
    ([view]) => !NO_FIGURES.includes(view) && !['figures_in', 'financials_in'].includes(view),
  )
  expect(own.length).toBeGreaterThan(8)
  for (const [view, about] of own)
    expect([view, about]).toEqual([view, expect.stringMatching(/do not add up/)])
})

test('consolidation says that both do not add up, or that there is one', () => {
  const own = columnsNamed('consolidation')
  expect(own.length).toBeGreaterThan(12)
  for (const [view, about] of own)
    expect([view, about]).toEqual([view, expect.stringMatching(/not add|^consolidation of the/)])
})

test('stakes say that those of several kinds do not add up', () => {
  const own = [...columnsNamed('stake'), ...columnsNamed('ownership_stake')]
  expect(own.map(([view]) => view)).toEqual(
    expect.arrayContaining(['owners_current', 'owners_stated', 'ownerships']),
  )
  for (const [view, about] of own)
    expect([view, about]).toEqual([view, expect.stringMatching(/several kinds.* do not add up/)])
})

test('the comments of a database are these', () => {
  const inDatabase = new Map(
    [...baseComments(), ...definitionsFor().map(commentsOf)].map((one) => [one.name, JSON.stringify(one)]),
  )
  for (const name of ['value', 'currency', 'consolidation', 'stake'])
    for (const [view, about] of columnsNamed(name))
      expect([view, inDatabase.get(view)]).toEqual([
        view,
        expect.stringContaining(JSON.stringify(about).slice(1, -1)),
      ])
})

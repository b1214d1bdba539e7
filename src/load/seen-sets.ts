/** Names that a run has seen; the contract's own to begin with. */

import { LINE_ITEMS } from '../contract/line-items.ts'
import { KeyTable } from './key-table.ts'
import type { ForeignItem } from './line-items.ts'

/** Sets that grow with what a run sees; DuckDB's ENUM types are made from them. */
export interface SeenSets {
  readonly countries: KeyTable
  readonly currencies: KeyTable
  readonly categories: KeyTable
  readonly lineItems: KeyTable
  /** Line items outside the contract, by their two indexes. */
  readonly foreign: Map<number, ForeignItem>
}

export const newSeenSets = (): SeenSets => ({
  countries: new KeyTable([]),
  currencies: new KeyTable([]),
  categories: new KeyTable(LINE_ITEMS.map(({ category }) => category)),
  lineItems: new KeyTable(LINE_ITEMS.map(({ lineItem }) => lineItem)),
  foreign: new Map(),
})

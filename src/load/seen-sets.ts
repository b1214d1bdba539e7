/** Names that a run has seen; the contract's own to begin with. */

import { LINE_ITEMS } from '../contract/line-items.ts'
import { LARGEST_ENUM } from '../lake/duckdb/engine.ts'
import { KeyTable } from './key-table.ts'

/** Sets that grow with what a run sees; DuckDB's ENUM types are made from them. */
export interface SeenSets {
  readonly countries: KeyTable
  readonly currencies: KeyTable
  readonly categories: KeyTable
  readonly lineItems: KeyTable
}

/** As many names as an ENUM may have: of more none is made. */
const BOUNDS = { names: LARGEST_ENUM, bytes: 1024 * 1024 }

export const newSeenSets = (): SeenSets => ({
  countries: new KeyTable([], BOUNDS),
  currencies: new KeyTable([], BOUNDS),
  categories: new KeyTable(
    LINE_ITEMS.map(({ category }) => category),
    BOUNDS,
  ),
  lineItems: new KeyTable(
    LINE_ITEMS.map(({ lineItem }) => lineItem),
    BOUNDS,
  ),
})

/** Whether there is a set without an ENUM, for it has seen too many names. */
export const isAnyFull = ({ countries, currencies, categories, lineItems }: SeenSets): boolean =>
  [countries, currencies, categories, lineItems].some(({ full }) => full)

/** The names that an ENUM can be made of; none where there are more than it holds. */
export const enumNames = ({ names, full }: KeyTable): readonly string[] => (full ? [] : names)

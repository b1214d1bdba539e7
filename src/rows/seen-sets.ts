/**
 * Names that a run has seen, the contract's own to begin with, and their codes in the columns of a block.
 */

import { CATEGORIES, LINE_ITEMS, type LineItem } from '../contract/line-items.ts'
import type { Names } from '../lake/duckdb/column-tables.ts'
import { LARGEST_ENUM } from '../lake/duckdb/sql.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { KeyTable } from './key-table.ts'

/** Sets that grow with what a run sees; DuckDB's ENUM types are made from them. */
export interface SeenSets {
  readonly countries: KeyTable
  readonly currencies: KeyTable
  readonly categories: KeyTable
  readonly lineItems: KeyTable
}

/** The names of such sets, to be read. */
export type NameSets = Readonly<Record<keyof SeenSets, SeenNames>>
type SeenNames = Pick<KeyTable, 'names' | 'full'>

const { QUOTE, BACKSLASH } = JSON_BYTES

/** As many names as an ENUM may have: of more none is made. */
const BOUNDS = { names: LARGEST_ENUM, bytes: 1024 * 1024 }

/** Per line item of the contract, the place of a category, -1 where the condition is false. */
const categoriesWhere = (holds: (item: LineItem) => boolean): Int16Array =>
  Int16Array.from(LINE_ITEMS, (item) => (holds(item) ? CATEGORIES.indexOf(item.category) : -1))

const CATEGORY_OF_ITEM = categoriesWhere(() => true)

/** Whether the contract knows a line item in a category, by their places in the sets: its own names stand first. */
export const isInContract = (category: number, lineItem: number): boolean =>
  lineItem < CATEGORY_OF_ITEM.length && CATEGORY_OF_ITEM[lineItem] === category

/** Per line item of the contract, the category in which the scale applies to it, -1 where it never does. */
export const scaledCategories = (): Int16Array => categoriesWhere(({ scaled }) => scaled)

/** Per line item of the contract, the category in which it is money, -1 where it never is. */
export const moneyCategories = (): Int16Array => categoriesWhere(({ isMoney }) => isMoney)

export const newSeenSets = (): SeenSets => ({
  countries: new KeyTable([], BOUNDS),
  currencies: new KeyTable([], BOUNDS),
  categories: new KeyTable(CATEGORIES, BOUNDS),
  lineItems: new KeyTable(
    LINE_ITEMS.map(({ lineItem }) => lineItem),
    BOUNDS,
  ),
})

/** Whether there is a set without an ENUM, for it has seen too many names. */
export const isAnyFull = ({ countries, currencies, categories, lineItems }: NameSets): boolean =>
  [countries, currencies, categories, lineItems].some(({ full }) => full)

/** The names that an ENUM can be made of; none where there are more than it holds. */
export const enumNames = ({ names, full }: SeenNames): readonly string[] => (full ? [] : names)

/**
 * The code of a name is its place in its set, or, where the set had no room for it, its place in the block's bytes. So columns
 * hold no texts, however many names there are.
 */
export const NO_NAME = -1
const FIRST_POSITION = -2

export const codeOfPosition = (position: number): number => FIRST_POSITION - position

/** The names that the codes of a set stand for in a block. */
export const namesOf = (set: SeenNames, bytes: Buffer): Names => ({
  values: enumNames(set),
  textOf: (code) => (code >= 0 ? (set.names[code] ?? '') : textAt(bytes, FIRST_POSITION - code)),
})

/** The text that begins at `start`, behind its quote. */
const textAt = (bytes: Buffer, start: number): string => {
  let end = start
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  const written = bytes.toString('utf8', start, end)
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written
}

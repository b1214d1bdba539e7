/** The names of a slice's figures, numbered in the order in which they are nested. */

import { CONSOLIDATIONS } from '../../contract/dictionaries.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { sliceView } from './slices.ts'

/** A line item in its category. */
export interface ItemName {
  readonly category: string
  readonly lineItem: string
}

/**
 * A figure's number is statement × items + item: the items of the consolidated statements, then those of the others. An item's is
 * category × line items + line item, where it is given by two numbers.
 */
export interface ItemNames {
  /** By the number of the item, in the order of category and line item; `undefined` for a number that none has. */
  readonly items: readonly (ItemName | undefined)[]
  /** By the number of the item, 1 where the scale was applied when it was loaded. */
  readonly scaled: Uint8Array
  /** Line items of a category. */
  readonly lineItems: number
  /**
   * The slice's figures: `internal_id, unconsolidated, category, line_item, fiscal_year, value, reported`; names as numbers, USMALLINT or
   * INTEGER, and NULL for a name that is not among these.
   */
  readonly figures: string
}

interface KnownItem extends ItemName {
  readonly scaled: boolean
}

/** Names come as JSON: of one read as it is a leading U+FEFF would be dropped. */
const itemsIn = async (session: Session, from: string): Promise<KnownItem[]> => {
  const rows = await session.rows(
    `SELECT to_json(category)::VARCHAR AS category, to_json(line_item)::VARCHAR AS line_item, scaled FROM ${from}`,
  )
  return rows.map(({ category, line_item, scaled }) => ({
    category: String(JSON.parse(String(category))),
    lineItem: String(JSON.parse(String(line_item))),
    scaled: scaled === true,
  }))
}

const sorted = (names: readonly string[]): string[] =>
  [...new Set(names)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

const UNCONSOLIDATED = `consolidation = ${literal(CONSOLIDATIONS[1].name)}`
const figuresSql = (category: string, lineItem: string, from: string): string =>
  `SELECT internal_id, ${UNCONSOLIDATED} AS unconsolidated, ${category} AS category, ${lineItem} AS line_item, fiscal_year, value, reported
   FROM ${from}`

/** A list is searched for each distinct name of a column, not for each row: faster than a join, as long as it is short. */
const positionSql = (names: readonly string[], column: string): string =>
  `(nullif(list_position([${names.map(literal).join(', ')}]::VARCHAR[], ${column}), 0) - 1)::USMALLINT`
const MOST_LISTED = 1_000

/** The names in the dictionary of the run that loaded the slice: mostly all that there are. `null` where they are too many for lists. */
export const dictionaryNames = async (session: Session): Promise<ItemNames | null> => {
  const [counted] = await session.rows(`SELECT count(*)::INTEGER AS items FROM ${sliceView('line_items')}`)
  if (!(Number(counted?.items) <= MOST_LISTED)) return null
  const known = await itemsIn(session, sliceView('line_items'))
  const categories = sorted(known.map(({ category }) => category))
  const lineItems = sorted(known.map(({ lineItem }) => lineItem))
  const places = new Map(lineItems.map((name, at) => [name, at]))
  const size = categories.length * lineItems.length
  const items = new Array<ItemName | undefined>(size).fill(undefined)
  const scaled = new Uint8Array(size)
  for (const item of known) {
    const number = categories.indexOf(item.category) * lineItems.length + (places.get(item.lineItem) ?? 0)
    items[number] = item
    scaled[number] = item.scaled ? 1 : 0
  }
  const figures = figuresSql(
    positionSql(categories, 'category'),
    positionSql(lineItems, 'line_item'),
    sliceView('financials'),
  )
  return { items, scaled, lineItems: lineItems.length, figures }
}

/** The line items that occur, numbered from 0; the dictionary that the rows were loaded with says which were scaled. */
const numberedItems = (): string => `
SELECT row_number() OVER (ORDER BY category, line_item) - 1 AS item, category, line_item, coalesce(scaled, false) AS scaled
FROM (SELECT DISTINCT category, line_item FROM ${sliceView('financials')}) LEFT JOIN ${sliceView('line_items')} USING (category, line_item)`

/** The names that the slice's figures have. */
export const namesInSlice = async (session: Session): Promise<ItemNames> => {
  await session.run(`CREATE OR REPLACE TEMP TABLE part_items_numbered AS ${numberedItems()}`)
  const items = await itemsIn(session, '(FROM part_items_numbered ORDER BY item)')
  return {
    items,
    scaled: Uint8Array.from(items, ({ scaled }) => (scaled ? 1 : 0)),
    lineItems: items.length,
    figures: figuresSql(
      '0::INTEGER',
      'item::INTEGER',
      `${sliceView('financials')} JOIN part_items_numbered USING (category, line_item)`,
    ),
  }
}

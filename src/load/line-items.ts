/** The dictionary of line items as rows: the contract's, and those a run has seen beyond it. */

import { LINE_ITEMS } from '../contract/line-items.ts'
import type { LineItemKey } from '../core/unknown-names.ts'
import { literal } from '../lake/duckdb/sql.ts'

/** The places of line items beyond the contract; one may stand in both places, and again and again. */
export interface SeenItems {
  readonly listed: readonly LineItemKey[]
  /** The relation to read, behind FROM, for rows that have them, as `category` and `line_item`. */
  readonly rows?: string | undefined
}

const listedRows = (listed: readonly LineItemKey[]): string[] =>
  listed.length === 0
    ? []
    : [
        `SELECT * FROM (VALUES ${listed.map(({ category, lineItem }) => `(${literal(lineItem)}, ${literal(category)})`).join(', ')})`,
      ]

/** Rows of `line_items`. An item outside the contract has unit and kind `unknown` and is not scaled. */
export const lineItemsOf = ({ listed, rows }: SeenItems): string => {
  const contract = LINE_ITEMS.map(
    ({ lineItem, category, unit, scaled, kind }, at) =>
      `(${[lineItem, category, unit].map(literal).join(', ')}, ${scaled}, ${literal(kind)}, ${at})`,
  )
  const seen = [
    ...listedRows(listed),
    ...(rows === undefined ? [] : [`SELECT line_item::VARCHAR, category::VARCHAR FROM ${rows}`]),
  ]
  const known = `SELECT * FROM (VALUES ${contract.join(', ')}) AS item(line_item, category, unit, scaled, kind, place)`
  if (seen.length === 0) return `SELECT * EXCLUDE (place) FROM (${known}) ORDER BY place`
  // Millions of names are made distinct within DuckDB's memory, but not also sorted.
  return `WITH known AS (${known}), seen(line_item, category) AS (${seen.join(' UNION ALL ')})
SELECT * EXCLUDE (place) FROM (
  FROM known UNION ALL
  SELECT DISTINCT line_item, category, 'unknown', false, 'unknown', ${LINE_ITEMS.length} FROM seen ANTI JOIN known USING (line_item, category)
)${rows === undefined ? ' ORDER BY place, category, line_item' : ''}`
}

/** The dictionary of line items as rows: the contract's, and those a run has seen beyond it. */

import { LINE_ITEMS } from '../contract/line-items.ts'
import { literal } from '../lake/sql.ts'

export interface ForeignItem {
  readonly category: string
  readonly lineItem: string
}

/** Rows of `line_items`. An item outside the contract has unit `unknown` and is not scaled. */
export const lineItemsOf = (foreign: Iterable<ForeignItem>): string => {
  const rows = [
    ...LINE_ITEMS,
    ...[...foreign].map((item) => ({ ...item, unit: 'unknown', scaled: false })),
  ].map(
    ({ lineItem, category, unit, scaled }) =>
      `(${literal(lineItem)}, ${literal(category)}, ${literal(unit)}, ${scaled})`,
  )
  return `SELECT * FROM (VALUES ${rows.join(', ')}) AS item(line_item, category, unit, scaled)`
}

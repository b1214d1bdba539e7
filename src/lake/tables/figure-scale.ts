/** The scale of figures in SQL: applied to what was reported, and taken off again. What is loaded is scaled by `SeriesRows`, to the same values. */

import { FIGURE_SCALE } from '../../contract/dictionaries.ts'
import { LINE_ITEMS } from '../../contract/line-items.ts'
import { literal } from '../duckdb/sql.ts'

const SCALED = Object.entries(FIGURE_SCALE).filter(([, factor]) => factor !== 1)

/** The factor of a scale's text; a record without one is absolute (`None` is the default). */
export const factorOf = (scale: string): string =>
  `CASE ${scale} ${SCALED.map(([name, factor]) => `WHEN ${literal(name)} THEN ${factor}::DOUBLE`).join(' ')} ELSE 1 END`

/** Whether the contract applies the scale to a line item, by names. */
export const isScaledItem = (category: string, lineItem: string): string =>
  `(${category}::VARCHAR, ${lineItem}::VARCHAR) IN (${LINE_ITEMS.filter(({ scaled }) => scaled)
    .map((item) => `(${literal(item.category)}, ${literal(item.lineItem)})`)
    .join(', ')})`

/** The exponent that a factor stands for. */
const powerOf = (factor: string, prefix = ''): string =>
  `CASE ${factor} ${SCALED.map(([, value]) => `WHEN ${value} THEN ${literal(`${prefix}${Math.log10(value)}`)}`).join(' ')} END`

/** Whole numbers up to here are doubles. */
const EXACT_WHOLE = 2 ** 53

/**
 * The double nearest to the shortest decimal of a figure times its factor; `shiftNumber` does the same.
 *
 * Nearly all figures need no text of them. A whole number and the factor are exact, so their product is rounded once.
 * And the quotient of a whole number and the factor is the double nearest to it: where that is the figure, the whole
 * number is the product, if it has at most 15 digits, because no other decimal so short is read as the same double.
 */
export const scaledFigure = (figure: string, factor: string): string => `CASE
  WHEN ${factor} = 1 THEN ${figure}
  WHEN abs(round(${figure} * ${factor})) <= 1e15 AND round(${figure} * ${factor}) / ${factor} = ${figure} THEN round(${figure} * ${factor})
  WHEN abs(${figure}) <= ${EXACT_WHOLE} AND trunc(${figure}) = ${figure} THEN ${figure} * ${factor}
  ELSE coalesce(
    TRY_CAST(${figure}::VARCHAR || ${powerOf(factor, 'e')} AS DOUBLE),
    (split_part(${figure}::VARCHAR, 'e', 1) || 'e' ||
      (split_part(${figure}::VARCHAR, 'e', 2)::INTEGER + ${powerOf(factor)}::INTEGER))::DOUBLE)
  END`

/** The figure as reported. Lakes of before hold products of doubles as values: the same division undoes these. */
export const reportedFigure = (value: string, reported: string, factor: string): string =>
  `coalesce(${reported}, ${value} / ${factor})`

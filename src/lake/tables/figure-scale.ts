/** The scale of figures in SQL. */

import { FIGURE_SCALE } from '../../contract/dictionaries.ts'
import { literal } from '../duckdb/sql.ts'

const SCALED = Object.entries(FIGURE_SCALE).filter(([, factor]) => factor !== 1)

/** The factor of a scale's text; a record without one is absolute (`None` is the default). */
export const factorOf = (scale: string): string =>
  `CASE ${scale} ${SCALED.map(([name, factor]) => `WHEN ${literal(name)} THEN ${factor}::DOUBLE`).join(' ')} ELSE 1 END`

/**
 * The three levels of a company's figures as reported, from the long rows that the checker made of them: the inverse of
 * `check-figures.ts` and `series-rows.ts`.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { factorOf, reportedFigure } from '../lake/tables/figure-scale.ts'

/** The companies numbered in the order of their ids: `internal_id`, `company` from 0, `factor` of their scale. */
export const numberedCompanies = (companies: string): string => `
SELECT internal_id, row_number() OVER (ORDER BY internal_id) - 1 AS company,
  ${factorOf('financial_figure_scale')}::DOUBLE AS factor
FROM ${companies}`

/**
 * The line items that occur, numbered in the order in which they are nested: `item` from 0, `category`,
 * `line_item`, `scaled`.
 * @param lineItems the dictionary that the rows were loaded with: it says which items were scaled
 */
export const numberedItems = (financials: string, lineItems: string): string => `
SELECT row_number() OVER (ORDER BY category, line_item) - 1 AS item, category, line_item, coalesce(scaled, false) AS scaled
FROM (SELECT DISTINCT category, line_item FROM ${financials}) LEFT JOIN ${lineItems} USING (category, line_item)`

/** Numbers that a key has for the fiscal years of one line item, and that of the year 0: years are SMALLINT. */
export const YEARS = 65_536
export const YEAR_0 = 32_768

/**
 * Figures as reported in the order in which they are nested, as two numbers each, because to read a text or an
 * id for each takes longer than all else. `key` is ((company × 2 + consolidation) × items + item) × `YEARS` +
 * fiscal year + 2^15.
 *
 * @param companies what `numberedCompanies` gave
 * @param items what `numberedItems` gave
 * @param counts rows of these two
 */
export const orderedFigures = (
  financials: string,
  companies: string,
  items: string,
  counts: { readonly companies: number; readonly items: number },
): string => {
  if (counts.companies * 2 * counts.items * YEARS > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(
      `Cannot number the figures of ${counts.companies} companies, ${counts.items} line items each`,
    )
  }
  return `SELECT key::DOUBLE AS key, figure FROM (
  SELECT ((company * 2 + (consolidation = ${literal(CONSOLIDATIONS[1].name)})::BIGINT) * ${counts.items} + item) * ${YEARS}
      + fiscal_year + ${YEAR_0} AS key,
    ${reportedFigure('value', 'reported', '(CASE WHEN scaled THEN factor ELSE 1 END)')} AS figure
  FROM ${financials}
  JOIN ${companies} USING (internal_id)
  JOIN ${items} USING (category, line_item)
) ORDER BY key`
}

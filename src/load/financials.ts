/** The three levels of a company's figures as long rows with the scale applied, and back as reported. */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { LINE_ITEMS } from '../contract/line-items.ts'
import { COMPANY } from '../contract/objects.ts'
import { isEnumerable } from '../lake/duckdb/engine.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { readType } from '../lake/tables/columns.ts'
import {
  factorOf,
  isScaledItem,
  keptFigure,
  reportedFigure,
  scaledFigure,
} from '../lake/tables/figure-scale.ts'
import type { Scan } from './companies.ts'

const STATEMENTS = readType(COMPANY.fields.Financials)

/**
 * For each line item of the ENUM, in its order, the position of the category in which the scale applies to
 * it, -1 where it never does. An item outside the contract, or in another category, stays unscaled.
 */
const scaledHome = (lineItems: readonly string[], categories: readonly string[]): string => {
  const home = new Map<string, number>(
    LINE_ITEMS.filter(({ scaled }) => scaled).map(({ category, lineItem }) => [
      lineItem,
      categories.indexOf(category),
    ]),
  )
  return `[${lineItems.map((name) => home.get(name) ?? -1).join(',')}]`
}

/** Whether the scale applies to a row's line item; without ENUM types by the names themselves. */
const isScaled = (lineItems: readonly string[], categories: readonly string[]): string => {
  if (isEnumerable(lineItems) && isEnumerable(categories)) {
    return `${scaledHome(lineItems, categories)}[enum_code(line_item)::INTEGER + 1] = enum_code(category)`
  }
  return isScaledItem('category', 'line_item')
}

export interface FigureNames {
  /** What the ENUM types are made of. */
  readonly lineItems: readonly string[]
  readonly categories: readonly string[]
  /** A relation of the values that do not follow from a figure's double, where there is one. */
  readonly exact?: string | undefined
}

/**
 * Rows of `financials`: one a reported figure; an absent figure is no row, 0 is one. `reported` is NULL but
 * where the scaled value divided by the scale does not give the reported figure back.
 *
 * Units: `value` in whole units of `currency` for amounts, as reported for all other line items.
 * Source: service interface, "Financial data structure"; open points, "Scale".
 */
export const financialsOf = (scan: Scan, { lineItems, categories, exact }: FigureNames): string => `
WITH statement AS (
  SELECT BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code,
    MetaData.CurrentCurrencyCode AS currency, ${factorOf('MetaData.FinancialFigureScale')} AS factor,
    unnest([${CONSOLIDATIONS.map(({ name }) => literal(name)).join(', ')}]::consolidation[]) AS consolidation,
    unnest([Financials, UnconsolidatedFinancials]) AS categories
  FROM ${scan({
    BasicDetails: 'STRUCT("InternalId" BIGINT, "CountryCode" country)',
    MetaData: 'STRUCT("CurrentCurrencyCode" currency, "FinancialFigureScale" VARCHAR)',
    Financials: STATEMENTS,
    UnconsolidatedFinancials: STATEMENTS,
  })}
), by_category AS (
  SELECT * EXCLUDE categories, unnest(map_keys(categories)) AS category, unnest(map_values(categories)) AS items
  FROM statement
), by_line_item AS (
  SELECT * EXCLUDE items, unnest(map_keys(items)) AS line_item, unnest(map_values(items)) AS years
  FROM by_category
), by_scale AS (
  SELECT * REPLACE (CASE WHEN ${isScaled(lineItems, categories)} THEN factor ELSE 1 END AS factor)
  FROM by_line_item
), figure AS (
  SELECT * EXCLUDE years, unnest(map_keys(years)) AS fiscal_year, unnest(map_values(years)) AS figure
  FROM by_scale
), scaled AS (
  SELECT *, ${scaledFigure('figure', 'factor')} AS value FROM figure WHERE figure IS NOT NULL
)
SELECT internal_id, country_code, consolidation, category, line_item, fiscal_year, value, currency,
  ${keptFigure('value', 'figure', 'factor')} AS reported
FROM ${exact === undefined ? 'scaled' : withExact(exact)}`

/** Rows with the exact values that were found beside them. */
const withExact = (exact: string): string => `(
  SELECT scaled.* REPLACE (coalesce(exact_value, value) AS value)
  FROM scaled LEFT JOIN ${exact} AS exact USING (internal_id, consolidation, category, line_item, fiscal_year)
)`

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

/**
 * Companies as a list to browse, worked out once for a snapshot: their details from the lake's tables, their latest net sales and
 * EBIT from the serving index, which has them side by side where the tables would have to be read as a whole.
 */

import { ident } from '../../lake/duckdb/sql.ts'
import { figureNamed } from '../serving-index/index-form.ts'

/** The rows that a caller may see, and those of all companies. */
export const COMPANY_LIST = 'company_list'
export const ALL_LISTED = 'explorer.company_list'

/** The view of the lake that it reads. */
export const LIST_READS = 'companies'

/** The newest years of which the list has net sales, for its small lines. */
const DRAWN_YEARS = 12

/** A figure of the year of the latest net sales; NULL where there is none. */
const inYear = (row: string): string =>
  `CASE WHEN ${row}.fiscal_year = s.fiscal_year THEN ${row}.value ELSE ${row}.earlier[${row}.fiscal_year - s.fiscal_year] END`

/** Statements that make the list of all companies. The index stands in the schema `copy`. */
export const listStatements = (): readonly string[] => [
  'CREATE SCHEMA IF NOT EXISTS explorer',
  `CREATE OR REPLACE TABLE ${ALL_LISTED} AS
WITH net_sales AS (FROM copy.figure WHERE line_item = ${figureNamed('NetSales')} AND latest),
ebit AS (FROM copy.figure WHERE line_item = ${figureNamed('EBIT')}),
figures AS (
  SELECT s.internal_id, s.fiscal_year, s.currency, s.value AS net_sales,
    list_append(list_reverse(s.earlier[:${DRAWN_YEARS - 1}]), s.value) AS sales_by_year,
    (s.value - s.earlier[1]) / nullif(abs(s.earlier[1]), 0) AS growth, ${inYear('e')} / nullif(s.value, 0) AS ebit_margin
  FROM net_sales AS s LEFT JOIN ebit AS e ON e.internal_id = s.internal_id
    AND s.fiscal_year BETWEEN e.fiscal_year - len(e.earlier) AND e.fiscal_year
)
SELECT c.internal_id, c.company_name, c.org_no, c.country_code, c.address_city AS city, c.operational_status_name AS status,
  c.legal_form_name AS legal_form, c.listing_type AS listed, coalesce(c.industry_codes[1].code, c.industry_codes[1].text) AS industry_code,
  c.industry_codes[1].text AS industry, f.* EXCLUDE (internal_id)
FROM ${ident(LIST_READS)} AS c LEFT JOIN figures AS f ON f.internal_id = c.internal_id`,
]

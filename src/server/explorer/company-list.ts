/**
 * Companies as a list to browse, worked out once for a snapshot: their details from the lake's tables, their net sales, growth and
 * EBIT margin from the serving index, which has them where the tables would have to be read as a whole.
 */

import { ident } from '../../lake/duckdb/sql.ts'

/** The rows that a caller may see, and those of all companies. */
export const COMPANY_LIST = 'company_list'
export const ALL_LISTED = 'explorer.company_list'

/** The view of the lake that it reads. */
export const LIST_READS = 'companies'

/** Statements that make the list of all companies. The index stands in the schema `serving`. */
export const listStatements = (): readonly string[] => [
  'CREATE SCHEMA IF NOT EXISTS explorer',
  `CREATE OR REPLACE TABLE ${ALL_LISTED} AS
SELECT c.internal_id, c.company_name, c.org_no, c.country_code, c.address_city AS city, c.operational_status_name AS status,
  c.legal_form_name AS legal_form, c.listing_type AS listed, coalesce(c.industry_codes[1].code, c.industry_codes[1].text) AS industry_code,
  c.industry_codes[1].text AS industry, s.* EXCLUDE (internal_id)
FROM ${ident(LIST_READS)} AS c LEFT JOIN serving.latest_sales AS s ON s.internal_id = c.internal_id`,
]

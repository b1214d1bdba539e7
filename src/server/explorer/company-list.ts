/**
 * Companies as a list to browse, worked out once for a snapshot: their details, and net sales, growth and EBIT margin of the latest
 * year whose preferred statement has net sales. All of a company's numbers are of that consolidation.
 */

/** The rows that a caller may see, and those of all companies. */
export const COMPANY_LIST = 'company_list'
export const ALL_LISTED = 'explorer.company_list'

/** The views of the lake that it reads. */
export const LIST_READS = ['companies', 'financials'] as const

/** The newest years of which the list has net sales, for its small lines. */
const DRAWN_YEARS = 12

/** Figures of the statements of which the list has numbers. */
const OF_LIST = `category = 'ProfitAndLoss' AND line_item IN ('NetSales', 'EBIT')`

/** An aggregate of the one figure of a line item that lies so many years before the latest one. */
const inYear = (item: string, before: number, column: string): string =>
  `any_value(f.${column}) FILTER (f.line_item = '${item}' AND f.fiscal_year = l.fiscal_year - ${before})`

/** Statements that make the list of all companies. */
export const listStatements = (): readonly string[] => [
  'CREATE SCHEMA IF NOT EXISTS explorer',
  `CREATE OR REPLACE TABLE ${ALL_LISTED} AS
WITH latest AS (
  SELECT internal_id, unnest(arg_max({'fiscal_year': fiscal_year, 'consolidation': consolidation, 'currency': currency, 'months': months,
    'net_sales': value}, fiscal_year))
  FROM financials WHERE ${OF_LIST} AND line_item = 'NetSales' AND is_preferred GROUP BY internal_id
), yearly AS (
  SELECT f.internal_id, ${inYear('NetSales', 1, 'value')} AS before, ${inYear('NetSales', 1, 'currency')} AS currency_before,
    ${inYear('NetSales', 1, 'months')} AS months_before, ${inYear('EBIT', 0, 'value')} AS ebit,
    map_from_entries(list({'k': f.fiscal_year::INTEGER, 'v': f.value}) FILTER (f.line_item = 'NetSales')) AS sales
  FROM financials AS f JOIN latest AS l ON l.internal_id = f.internal_id AND l.consolidation = f.consolidation
  WHERE ${OF_LIST} AND f.fiscal_year BETWEEN l.fiscal_year - ${DRAWN_YEARS - 1} AND l.fiscal_year GROUP BY f.internal_id, l.fiscal_year
), figures AS (
  SELECT l.internal_id, l.fiscal_year, l.currency, l.net_sales, l.consolidation, l.months,
    list_transform(range(list_min(map_keys(y.sales)), l.fiscal_year + 1), lambda year: y.sales[year::INTEGER]) AS sales_by_year,
    CASE WHEN y.currency_before IS NOT DISTINCT FROM l.currency AND coalesce(y.months_before = l.months, true)
      THEN (l.net_sales - y.before) / nullif(abs(y.before), 0) END AS growth,
    CASE
      WHEN y.before IS NULL THEN NULL
      WHEN y.currency_before IS DISTINCT FROM l.currency THEN 'currency differs'
      WHEN y.months_before <> l.months THEN 'length differs'
      WHEN y.before = 0 THEN 'previous value is 0'
    END AS growth_reason,
    y.ebit / nullif(l.net_sales, 0) AS ebit_margin
  FROM latest AS l JOIN yearly AS y ON y.internal_id = l.internal_id
)
SELECT c.internal_id, c.company_name, c.org_no, c.country_code, c.address_city AS city, c.operational_status_name AS status,
  c.legal_form_name AS legal_form, c.listing_type AS listed, coalesce(c.industry_codes[1].code, c.industry_codes[1].text) AS industry_code,
  c.industry_codes[1].text AS industry, f.* EXCLUDE (internal_id)
FROM companies AS c LEFT JOIN figures AS f ON f.internal_id = c.internal_id`,
]

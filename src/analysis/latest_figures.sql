-- The latest figure of each company and line item.
-- group: figures
-- also: PostgreSQL
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   category: category of the line item
--   line_item: line item
--   consolidation: consolidation of the statement
--   fiscal_year: fiscal year of the statement
--   value: the figure, in the unit of its line item; do not add several currencies
--   currency: currency of amounts and per-share figures; several do not add up
--   months: length of the fiscal year, NULL where nothing states it
--   per_12_months: of flows the figure for twelve months; NULL of all others and where the length is unknown
-- rule: All figures of a company are of one statement: the preferred one of the latest year in which it has a figure of an income statement or a balance sheet, else of the latest year; so ratios of its figures compare like with like. A line item that it lacks has no row: figures has earlier ones.
-- example: SELECT company_name, value, currency FROM latest_figures WHERE line_item = 'NetSales' AND country_code = 'SE'
CREATE OR REPLACE VIEW latest_figures AS
SELECT f.internal_id, n.company_name, f.country_code, f.category, f.line_item, f.consolidation, f.fiscal_year, f.value, f.currency, f.months,
  CASE WHEN k.kind = 'flow' THEN f.value * 12 / f.months END AS per_12_months
FROM financials AS f
JOIN (
  SELECT internal_id, coalesce(max(fiscal_year) FILTER (WHERE category IN ('ProfitAndLoss', 'BalanceSheet')), max(fiscal_year)) AS fiscal_year
  FROM financials WHERE is_preferred GROUP BY internal_id
) AS l ON l.internal_id = f.internal_id AND l.fiscal_year = f.fiscal_year
LEFT JOIN line_item_names AS k ON k.category = f.category AND k.line_item = f.line_item
LEFT JOIN company_names AS n ON n.internal_id = f.internal_id
WHERE f.is_preferred;

-- Growth of the main line items against the year before: one row a company, fiscal year and line item.
-- group: figures
-- also: PostgreSQL
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: consolidation of the preferred statement
--   fiscal_year: fiscal year
--   category: category of the line item
--   line_item: line item, such as NetSales
--   value: figure of the fiscal year; do not add several currencies
--   previous_value: figure of the year before, of the same consolidation
--   growth: change as a share of the year before: 0.1 is ten percent; NULL where both do not compare
--   currency: currency of the figure, of which several do not add up; NULL where it is no money
--   months: length of the fiscal year, NULL where nothing states it
--   previous_months: length of the year before
--   per_12_months: of flows the figure for twelve months; NULL of all others and where the length is unknown
--   previous_per_12_months: the same of the year before
--   reason: why growth is NULL: consolidation differs, currency differs, length differs, or previous value is 0
-- rule: The rows of figure_changes, where its rule stands, that are of the preferred statement of the year. Other line items stand in figure_changes.
-- example: SELECT country_code, median(growth) FROM growth_of_main_items WHERE line_item = 'NetSales' AND fiscal_year = 2023 GROUP BY ALL
CREATE OR REPLACE VIEW growth_of_main_items AS
SELECT internal_id, company_name, country_code, consolidation, fiscal_year, category, line_item, value, previous_value, growth, currency, months,
  previous_months, per_12_months, previous_per_12_months, reason
FROM figure_changes
WHERE is_preferred AND line_item IN ('NetSales', 'GrossProfit', 'EBITDA', 'EBIT', 'PreTaxProfit', 'NetProfit', 'CashflowOperating', 'TotalAssets', 'TotalEquity');

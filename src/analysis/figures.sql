-- The figures that count: one a company, fiscal year and line item, of the preferred statement.
-- group: figures
-- also: PostgreSQL
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: fiscal year
--   category: category of the line item
--   line_item: line item, such as NetSales
--   value: the figure, in the unit of its line item; do not add several currencies: figures_in('EUR') has one
--   currency: currency of amounts and per-share figures; a lake has several, which do not add up
--   consolidation: consolidation of the preferred statement
--   months: length of the fiscal year, NULL where nothing states it; figures of other lengths do not compare
-- rule: Of financials those of the statement that is preferred in statements: a company that reports both for its group and for itself alone counts once.
-- example: SELECT currency, sum(value) FROM figures WHERE line_item = 'NetSales' AND fiscal_year = 2023 GROUP BY ALL
CREATE OR REPLACE VIEW figures AS
SELECT f.internal_id, n.company_name, f.country_code, f.fiscal_year, f.category, f.line_item, f.value, f.currency, f.consolidation, f.months
FROM financials AS f LEFT JOIN company_names AS n ON n.internal_id = f.internal_id
WHERE f.is_preferred;

-- The figures that count with amounts in one currency: one a company, fiscal year and line item, which can be added.
-- group: figures
-- parameters:
--   target: ISO 4217 code
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: fiscal year
--   category: category of the line item
--   line_item: line item, such as NetSales
--   value: the figure; of amounts and per-share figures in the target currency
--   currency: the target currency for amounts and per-share figures, else NULL
--   consolidation: consolidation of the preferred statement
--   months: length of the fiscal year, NULL where nothing states it
--   rate_year: year of the rate; another one than the fiscal year where that has no rate; NULL where nothing was converted
--   reported_value: the figure in the currency of the company
--   reported_currency: currency of the reported value; NULL where it is no money
-- rule: The rows of figures, converted as in financials_in; a value is NULL where its currency has no rates.
-- example: SELECT sum(value) FROM figures_in('EUR') WHERE line_item = 'NetSales' AND fiscal_year = 2023
CREATE OR REPLACE MACRO figures_in(target) AS TABLE
SELECT internal_id, company_name, country_code, fiscal_year, category, line_item, value, currency, consolidation, months, rate_year,
  reported_value, reported_currency
FROM financials_in(target) WHERE is_preferred;

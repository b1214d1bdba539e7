-- All reported figures with amounts in one currency, of both consolidations; figures_in has those that can be added.
-- group: money
-- parameters:
--   target: ISO 4217 code
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated; many companies report both, which do not add up
--   category: category of the line item
--   line_item: line item
--   fiscal_year: fiscal year
--   value: the figure; of amounts and per-share figures in the target currency; do not add both consolidations
--   currency: the target currency for amounts and per-share figures, else NULL
--   unit: unit of the line item
--   months: length of the fiscal year, NULL where nothing states it
--   is_preferred: whether it is of the preferred statement of the company and year
--   rate_year: year of the rate; another one than the fiscal year where that has no rate; NULL where nothing was converted
--   reported_value: the figure in the currency of the company
--   reported_currency: currency of the reported value; NULL where it is no money
-- rule: Converts what line_items calls "amount" or "per share", as convert_currency does; NULL where a currency has no rates. Where rates of both currencies stand in from other years, rate_year is that of the company's.
-- example: SELECT consolidation, value FROM financials_in('EUR') WHERE internal_id = 1001 AND line_item = 'NetSales' AND fiscal_year = 2023
CREATE OR REPLACE MACRO financials_in(target) AS TABLE
SELECT f.internal_id, n.company_name, f.country_code, f.consolidation, f.category, f.line_item, f.fiscal_year,
  CASE WHEN i.unit IN ('amount', 'per share')
    THEN CASE WHEN f.currency = target THEN f.value ELSE f.value * (t.units_per_usd / s.units_per_usd) END
    ELSE f.value END AS value,
  CASE WHEN i.unit IN ('amount', 'per share') THEN target END AS currency,
  i.unit, f.months, f.is_preferred,
  CASE WHEN f.currency <> target AND i.unit IN ('amount', 'per share')
    THEN CASE WHEN s.rate_year = f.fiscal_year THEN t.rate_year ELSE s.rate_year END END AS rate_year,
  f.value AS reported_value, f.currency AS reported_currency
FROM financials AS f
LEFT JOIN line_items AS i ON i.category = f.category AND i.line_item = f.line_item
LEFT JOIN rates_by_year AS s ON s.currency = f.currency AND s.fiscal_year = least(greatest(f.fiscal_year, 1900), 2100)
LEFT JOIN rates_by_year AS t ON t.currency = target AND t.fiscal_year = least(greatest(f.fiscal_year, 1900), 2100)
LEFT JOIN company_names AS n ON n.internal_id = f.internal_id;

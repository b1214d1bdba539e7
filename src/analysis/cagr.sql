-- Compound annual growth rate of a line item between two fiscal years.
-- group: figures
-- parameters:
--   item: line item, such as NetSales
--   from_year: first fiscal year
--   to_year: last fiscal year, after the first one
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated
--   first_value: figure of the first fiscal year
--   last_value: figure of the last fiscal year
--   currency: currency of both figures; NULL where they are no money
--   years: years between both
--   cagr: growth a year as a share: 0.1 is ten percent
-- rule: (last value / first value) ^ (1 / years) − 1, of companies that report both years, in the same consolidation and currency. NULL where the first value is not above 0 or the last one is below 0: between losses, or from a loss to a profit, there is no such rate. Years in between make no difference.
-- example: FROM cagr('NetSales', 2019, 2023) ORDER BY cagr DESC LIMIT 10
CREATE OR REPLACE MACRO cagr(item, from_year, to_year) AS TABLE
SELECT f.internal_id, n.company_name, f.country_code, f.consolidation, f.value AS first_value, l.value AS last_value, f.currency,
  l.fiscal_year::INTEGER - f.fiscal_year::INTEGER AS years,
  CASE WHEN f.value > 0 AND l.value >= 0 THEN (l.value / f.value) ^ (1 / (l.fiscal_year::INTEGER - f.fiscal_year::INTEGER)) - 1 END AS cagr
FROM financials AS f
JOIN financials AS l ON l.internal_id = f.internal_id AND l.consolidation = f.consolidation
  AND l.category = f.category AND l.currency IS NOT DISTINCT FROM f.currency
LEFT JOIN company_names AS n ON n.internal_id = f.internal_id
WHERE f.line_item = item AND l.line_item = item AND f.fiscal_year = from_year AND l.fiscal_year = to_year AND from_year < to_year;

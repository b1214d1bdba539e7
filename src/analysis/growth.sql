-- Growth of a line item against the year before.
-- group: figures
-- parameters:
--   item: line item, such as NetSales
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated
--   fiscal_year: fiscal year
--   value: figure of the fiscal year
--   previous_value: figure of the year before
--   growth: change as a share of the year before: 0.1 is ten percent
--   currency: currency of both figures; NULL where they are no money
-- rule: Only of two years that follow each other, in the same consolidation and currency; (value − previous value) / |previous value|, NULL where the year before has 0.
-- example: SELECT median(growth) FROM growth('NetSales') WHERE fiscal_year = 2023
CREATE OR REPLACE MACRO growth(item) AS TABLE
SELECT f.internal_id, n.company_name, f.country_code, f.consolidation, f.fiscal_year, f.value, p.value AS previous_value,
  (f.value - p.value) / nullif(abs(p.value), 0) AS growth, f.currency
FROM financials AS f
JOIN financials AS p ON p.internal_id = f.internal_id AND p.consolidation = f.consolidation
  AND p.category = f.category AND p.fiscal_year = f.fiscal_year - 1 AND p.currency IS NOT DISTINCT FROM f.currency
LEFT JOIN company_names AS n ON n.internal_id = f.internal_id
WHERE f.line_item = item AND p.line_item = item;

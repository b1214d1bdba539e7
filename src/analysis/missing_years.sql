-- Fiscal years without any figure between a company's first and last year.
-- group: figures
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated; many companies report both, which do not add up
--   fiscal_year: year without a figure
--   first_year: first fiscal year with figures
--   last_year: last fiscal year with figures
-- example: SELECT country_code, count(*) FROM missing_years GROUP BY ALL
CREATE OR REPLACE VIEW missing_years AS
WITH years AS (
  SELECT internal_id, country_code, consolidation, list(fiscal_year::INTEGER) AS years,
    min(fiscal_year)::INTEGER AS first_year, max(fiscal_year)::INTEGER AS last_year
  FROM (SELECT DISTINCT internal_id, country_code, consolidation, fiscal_year FROM financials)
  GROUP BY internal_id, country_code, consolidation
  HAVING count(*) <= last_year - first_year
), every AS (
  SELECT *, unnest(range(first_year, last_year)) AS fiscal_year FROM years
)
SELECT e.internal_id, n.company_name, e.country_code, e.consolidation, e.fiscal_year::INTEGER AS fiscal_year, e.first_year, e.last_year
FROM every AS e LEFT JOIN company_names AS n ON n.internal_id = e.internal_id
WHERE NOT list_contains(e.years, e.fiscal_year::INTEGER);

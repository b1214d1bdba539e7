-- Dates and fiscal years that are still to come.
-- group: quality
-- columns:
--   severity: error
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: the year
--   item: the column, or fiscal_year
--   value: NULL
--   expected: NULL
-- rule: Of the registration, the last fiscal year's end, the last update of the content, and the years of figures. A day more than two days ahead of the clock (time zones), a fiscal year more than one ahead.
-- found: of real data 0 errors and 0 notes in 719 companies; of generated data 0 errors and 0 notes in 10,000 companies
-- example: FROM quality_future
CREATE OR REPLACE VIEW quality_future AS
SELECT 'error' AS severity, internal_id, company_name, country_code, try_cast(year(moment) AS SMALLINT) AS fiscal_year, item, NULL::DOUBLE AS value, NULL::DOUBLE AS expected
FROM (
  SELECT internal_id, company_name, country_code, 'registration_date' AS item, try_cast(registration_date AS TIMESTAMPTZ) AS moment FROM companies
  UNION ALL SELECT internal_id, company_name, country_code, 'last_fiscal_year_end', try_cast(last_fiscal_year_end AS TIMESTAMPTZ) FROM companies
  UNION ALL SELECT internal_id, company_name, country_code, 'content_updated_at', try_cast(content_updated_at AS TIMESTAMPTZ) FROM companies
)
WHERE moment > now() + INTERVAL 2 DAY
UNION ALL
SELECT DISTINCT 'error', f.internal_id, n.company_name, f.country_code, f.fiscal_year, 'fiscal_year', NULL::DOUBLE, NULL::DOUBLE
FROM financials AS f LEFT JOIN company_names AS n ON n.internal_id = f.internal_id
WHERE f.fiscal_year > year(now()) + 1;

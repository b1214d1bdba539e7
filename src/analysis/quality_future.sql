-- Dates and fiscal years that are still to come.
-- group: quality
-- columns:
--   severity: error
--   internal_id: company
--   fiscal_year: the year
--   item: the column, or fiscal_year
--   value: NULL
--   expected: NULL
-- rule: Of the registration, the last fiscal year's end, the last update of the content, and the years of figures. A day more than two days ahead of the clock (time zones), a fiscal year more than one ahead.
-- found: of real data 0 errors and 0 notes in 719 companies; of generated data 0 errors and 0 notes in 10,000 companies
-- example: FROM quality_future
CREATE OR REPLACE VIEW quality_future AS
SELECT 'error' AS severity, internal_id, year(moment)::SMALLINT AS fiscal_year, item, NULL::DOUBLE AS value, NULL::DOUBLE AS expected
FROM (
  SELECT internal_id, 'registration_date' AS item, try_cast(registration_date AS TIMESTAMPTZ) AS moment FROM companies
  UNION ALL SELECT internal_id, 'last_fiscal_year_end', try_cast(last_fiscal_year_end AS TIMESTAMPTZ) FROM companies
  UNION ALL SELECT internal_id, 'content_updated_at', try_cast(content_updated_at AS TIMESTAMPTZ) FROM companies
)
WHERE moment > now() + INTERVAL 2 DAY
UNION ALL
SELECT DISTINCT 'error', internal_id, fiscal_year, 'fiscal_year', NULL::DOUBLE, NULL::DOUBLE FROM financials
WHERE fiscal_year > year(now()) + 1;

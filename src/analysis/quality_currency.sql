-- Companies whose figures came in another currency than those of the version before.
-- group: quality
-- columns:
--   severity: note
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: NULL
--   item: both currencies
--   value: NULL
--   expected: NULL
-- rule: A record has one currency for all its years, so years differ in currency only between loads. The current version is compared with the one before; equal ones that a compaction has put together are one. Note: companies do change their currency, and loads may ask for another one.
-- found: of real data 0 errors and 0 notes in 719 companies; of generated data 0 errors and 0 notes in 10,000 companies
-- example: SELECT item, count(*) FROM quality_currency GROUP BY ALL
CREATE OR REPLACE VIEW quality_currency AS
SELECT 'note' AS severity, internal_id, company_name, country_code, NULL::SMALLINT AS fiscal_year, concat(before, ' to ', currency) AS item,
  NULL::DOUBLE AS value, NULL::DOUBLE AS expected
FROM (
  SELECT internal_id, company_name, country_code, is_current, current_currency_code AS currency,
    lag(current_currency_code) OVER (PARTITION BY internal_id ORDER BY as_of, version) AS before
  FROM companies_history
)
WHERE is_current AND currency <> before;

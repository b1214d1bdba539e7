-- The first value of each figure that the service said, with the newest one beside it.
-- group: figures
-- columns:
--   internal_id: company
--   company_name: name of the company now; NULL where the service no longer lists it
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated; many companies report both, which do not add up
--   category: category of the line item
--   line_item: line item
--   fiscal_year: fiscal year
--   first_value: the first figure
--   first_currency: currency of the first figure; several do not add up
--   first_as_of: when the service said it first
--   newest_value: the figure that was said last
--   newest_currency: currency of the newest figure
--   percent: change from the first to the newest in percent of the first; NULL where that is 0 or the currencies differ
--   is_current: whether the newest figure is a current one; else the company or the figure is no more
-- rule: By as_of, whatever the order of loads; of one instant what was committed last counts. The first delivery has ten years of figures as of one instant: how they were reported before is not known. Values are in the currency as reported.
-- example: FROM first_reported WHERE percent <> 0 ORDER BY abs(newest_value - first_value) DESC LIMIT 20
CREATE OR REPLACE VIEW first_reported AS
SELECT f.internal_id, n.company_name, f.newest.country_code AS country_code, f.consolidation, f.category, f.line_item, f.fiscal_year,
  f.earliest.value AS first_value, f.earliest.currency AS first_currency, f.earliest.as_of AS first_as_of,
  f.newest.value AS newest_value, f.newest.currency AS newest_currency,
  CASE WHEN f.earliest.currency IS NOT DISTINCT FROM f.newest.currency
    THEN 100 * (f.newest.value - f.earliest.value) / nullif(abs(f.earliest.value), 0) END AS percent,
  f.is_current
FROM (
  SELECT internal_id, consolidation, category, line_item, fiscal_year, min(said) AS earliest, max(said) AS newest, bool_or(is_current) AS is_current
  FROM (
    SELECT *, {'as_of': as_of, 'version': version, 'value': value, 'currency': currency, 'country_code': country_code} AS said
    FROM financials_history WHERE until_as_of IS NULL OR until_as_of > as_of
  ) GROUP BY internal_id, consolidation, category, line_item, fiscal_year
) AS f LEFT JOIN (
  SELECT internal_id, min(company_name) AS company_name FROM companies_history WHERE is_current GROUP BY internal_id
) AS n ON n.internal_id = f.internal_id;

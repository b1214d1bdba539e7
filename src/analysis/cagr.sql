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
--   consolidation: consolidation of the preferred statement of the last year
--   first_value: figure of the first fiscal year, of the same consolidation
--   last_value: figure of the last fiscal year
--   currency: currency of the last figure, of which several do not add up; NULL where it is no money
--   years: years between both
--   cagr: growth a year as a share: 0.1 is ten percent; NULL where both figures do not compare
--   first_months: length of the first fiscal year, NULL where nothing states it
--   last_months: length of the last fiscal year
--   first_per_12_months: of flows the first figure for twelve months; NULL of all others and where the length is unknown
--   last_per_12_months: the same of the last figure
--   reason: why cagr is NULL: consolidation differs, currency differs, length differs, or there is no rate between the values
-- rule: One row a company. (last value / first value) ^ (1 / years) − 1, of companies that report both years; only of figures of one consolidation, one currency and, where both lengths are known, one length. NULL where the first value is not above 0 or the last one is below 0: between losses, or from a loss to a profit, there is no such rate. Years in between make no difference.
-- example: FROM cagr('NetSales', 2019, 2023) ORDER BY cagr DESC LIMIT 10
CREATE OR REPLACE MACRO cagr(item, from_year, to_year) AS TABLE
WITH of_item AS (
  SELECT f.*, CASE WHEN k.kind = 'flow' THEN f.value * 12 / f.months END AS per_12_months
  FROM financials AS f LEFT JOIN line_item_names AS k ON k.category = f.category AND k.line_item = f.line_item
  WHERE f.line_item = item AND f.fiscal_year IN (from_year, to_year) AND from_year < to_year
), compared AS (
  SELECT l.*, f.value AS first_value, f.months AS first_months, f.per_12_months AS first_per_12_months,
    to_year::INTEGER - from_year::INTEGER AS years,
    CASE
      WHEN f.internal_id IS NULL THEN 'consolidation differs'
      WHEN f.currency IS DISTINCT FROM l.currency THEN 'currency differs'
      WHEN f.months <> l.months THEN 'length differs'
      WHEN f.value <= 0 OR l.value < 0 THEN 'no rate between the values'
    END AS reason
  FROM of_item AS l
  LEFT JOIN of_item AS f ON f.internal_id = l.internal_id AND f.category = l.category AND f.fiscal_year = from_year
    AND f.consolidation = l.consolidation
  WHERE l.fiscal_year = to_year AND l.is_preferred
    AND (f.internal_id IS NOT NULL OR (l.internal_id, l.category) IN (SELECT (internal_id, category) FROM of_item WHERE fiscal_year = from_year))
)
SELECT c.internal_id, n.company_name, c.country_code, c.consolidation, c.first_value, c.value AS last_value, c.currency, c.years,
  CASE WHEN c.reason IS NULL THEN (c.value / c.first_value) ^ (1 / c.years) - 1 END AS cagr,
  c.first_months, c.months AS last_months, c.first_per_12_months, c.per_12_months AS last_per_12_months, c.reason
FROM compared AS c LEFT JOIN company_names AS n ON n.internal_id = c.internal_id;

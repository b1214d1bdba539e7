-- Growth of a line item against the year before, in each consolidation that a company reports.
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
--   previous_value: figure of the year before, of the same consolidation
--   growth: change as a share of the year before: 0.1 is ten percent; NULL where both do not compare
--   currency: currency of the figure; NULL where it is no money
--   months: length of the fiscal year, NULL where nothing states it
--   previous_months: length of the year before
--   per_12_months: of flows the figure for twelve months; NULL of all others and where the length is unknown
--   previous_per_12_months: the same of the year before
--   reason: why growth is NULL: consolidation differs, currency differs, length differs, or previous value is 0
--   is_preferred: whether the figure is of the preferred statement of the year
-- rule: A row for each figure of a company that has one of the year before. (value − previous value) / |previous value|, only of figures of one consolidation, one currency and, where both lengths are known, one length; else NULL with the reason.
-- example: SELECT consolidation, median(growth) FROM growth_all('NetSales') WHERE fiscal_year = 2023 GROUP BY ALL
CREATE OR REPLACE MACRO growth_all(item) AS TABLE
WITH of_item AS (
  SELECT f.*, CASE WHEN k.kind = 'flow' THEN f.value * 12 / f.months END AS per_12_months
  FROM financials AS f LEFT JOIN line_item_names AS k ON k.category = f.category AND k.line_item = f.line_item
  WHERE f.line_item = item
), compared AS (
  SELECT f.*, p.value AS previous_value, p.months AS previous_months, p.per_12_months AS previous_per_12_months,
    CASE
      WHEN p.internal_id IS NULL THEN 'consolidation differs'
      WHEN p.currency IS DISTINCT FROM f.currency THEN 'currency differs'
      WHEN p.months <> f.months THEN 'length differs'
      WHEN p.value = 0 THEN 'previous value is 0'
    END AS reason
  FROM of_item AS f
  LEFT JOIN of_item AS p ON p.internal_id = f.internal_id AND p.category = f.category AND p.fiscal_year = f.fiscal_year - 1
    AND p.consolidation = f.consolidation
  WHERE p.internal_id IS NOT NULL OR (f.internal_id, f.category, f.fiscal_year - 1) IN (SELECT (internal_id, category, fiscal_year::INTEGER) FROM of_item)
)
SELECT c.internal_id, n.company_name, c.country_code, c.consolidation, c.fiscal_year, c.value, c.previous_value,
  CASE WHEN c.reason IS NULL THEN (c.value - c.previous_value) / abs(c.previous_value) END AS growth, c.currency, c.months, c.previous_months,
  c.per_12_months, c.previous_per_12_months, c.reason, c.is_preferred
FROM compared AS c LEFT JOIN company_names AS n ON n.internal_id = c.internal_id;

-- Each figure against the one of the year before, in each consolidation that a company reports.
-- group: figures
-- also: PostgreSQL
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated; many companies report both, which do not add up
--   fiscal_year: fiscal year
--   category: category of the line item
--   line_item: line item, such as NetSales
--   value: figure of the fiscal year; do not add several currencies or both consolidations
--   previous_value: figure of the year before, of the same consolidation
--   growth: change as a share of the year before: 0.1 is ten percent; NULL where both do not compare
--   currency: currency of the figure, of which several do not add up; NULL where it is no money
--   months: length of the fiscal year, NULL where nothing states it
--   previous_months: length of the year before
--   per_12_months: of flows the figure for twelve months; NULL of all others and where the length is unknown
--   previous_per_12_months: the same of the year before
--   reason: why growth is NULL: consolidation differs, currency differs, length differs, or previous value is 0
--   is_preferred: whether the figure is of the preferred statement of the year
-- rule: A row for each figure of a company that has one of the year before. (value − previous value) / |previous value|, only of figures of one consolidation, one currency and, where both lengths are known, one length; else NULL with the reason.
-- example: SELECT line_item, median(growth) FROM figure_changes WHERE is_preferred AND fiscal_year = 2023 AND category = 'ProfitAndLoss' GROUP BY ALL
CREATE OR REPLACE VIEW figure_changes AS
SELECT c.internal_id, n.company_name, c.country_code, c.consolidation, c.fiscal_year, c.category, c.line_item, c.value, c.previous_value,
  CASE WHEN c.reason IS NULL THEN (c.value - c.previous_value) / abs(c.previous_value) END AS growth, c.currency, c.months, c.previous_months,
  CASE WHEN c.kind = 'flow' THEN c.value * 12 / c.months END AS per_12_months,
  CASE WHEN c.kind = 'flow' THEN c.previous_value * 12 / c.previous_months END AS previous_per_12_months, c.reason, c.is_preferred
FROM (
  SELECT b.*, k.kind, CASE
    WHEN b.own_before = 0 THEN 'consolidation differs'
    WHEN b.previous_currency IS DISTINCT FROM b.currency THEN 'currency differs'
    WHEN b.previous_months <> b.months THEN 'length differs'
    WHEN b.previous_value = 0 THEN 'previous value is 0'
  END AS reason
  FROM (
    SELECT f.internal_id, f.country_code, f.consolidation, f.fiscal_year, f.category, f.line_item, f.value, f.currency, f.months, f.is_preferred,
      count(*) OVER any_before AS before, count(*) OVER own_before AS own_before, max(f.value) OVER own_before AS previous_value,
      max(f.currency) OVER own_before AS previous_currency, max(f.months) OVER own_before AS previous_months
    FROM financials AS f
    WINDOW any_before AS (PARTITION BY f.internal_id, f.category, f.line_item ORDER BY f.fiscal_year RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING),
      own_before AS (PARTITION BY f.internal_id, f.category, f.line_item, f.consolidation ORDER BY f.fiscal_year RANGE BETWEEN 1 PRECEDING AND 1 PRECEDING)
  ) AS b
  LEFT JOIN line_item_names AS k ON k.category = b.category AND k.line_item = b.line_item
  WHERE b.before > 0
) AS c LEFT JOIN company_names AS n ON n.internal_id = c.internal_id;

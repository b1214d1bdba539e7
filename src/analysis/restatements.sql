-- Figures that the service changed: a row a figure that a version has otherwise than the one before it.
-- group: figures
-- columns:
--   internal_id: company
--   company_name: name of the company in the new version
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated; many companies report both, which do not add up
--   category: category of the line item
--   line_item: line item
--   fiscal_year: fiscal year
--   old_value: figure of the version before
--   new_value: figure of this version
--   percent: change in percent of the old figure; NULL where that is 0 or the currency changed
--   old_currency: currency of the version before
--   new_currency: currency of this version
--   snapshot: snapshot that shows the new figure first
--   loaded_at: when that was committed
--   is_current: whether the new figure is the current one
-- rule: Versions go by when the service said them (as_of), not by when they were loaded: an older file that is loaded later shows what a figure was before. A figure that comes again with the same value and currency is none, nor is one that a version adds or leaves out. Of versions that the lake still has: a compaction leaves the current ones alone, so that restatements begin behind it; history_begins says since when.
-- example: FROM restatements WHERE line_item = 'NetSales' ORDER BY abs(percent) DESC
CREATE OR REPLACE VIEW restatements AS
SELECT n.internal_id, v.company_name, n.country_code, n.consolidation, n.category, n.line_item, n.fiscal_year,
  o.value AS old_value, n.value AS new_value,
  CASE WHEN o.currency IS NOT DISTINCT FROM n.currency THEN 100 * (n.value - o.value) / nullif(abs(o.value), 0) END AS percent,
  o.currency AS old_currency, n.currency AS new_currency, n.snapshot, n.loaded_at, n.is_current
FROM (
  SELECT internal_id, company_name, version, lag(version) OVER (PARTITION BY internal_id ORDER BY as_of, version) AS before FROM companies_history
) AS v
JOIN financials_history AS n ON n.internal_id = v.internal_id AND n.version = v.version
JOIN financials_history AS o ON o.internal_id = v.internal_id AND o.version = v.before
  AND o.consolidation = n.consolidation AND o.category = n.category AND o.line_item = n.line_item AND o.fiscal_year = n.fiscal_year
WHERE v.before IS NOT NULL AND (n.value <> o.value OR n.currency IS DISTINCT FROM o.currency);

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
--   as_of: when the service said the new figure
--   snapshot: snapshot that shows the new figure first
--   loaded_at: when that was committed
--   known_since: since when this lake has both versions, and so the restatement
--   is_current: whether the new figure is the current one
-- rule: Versions go by when the service said them (as_of), not by when they were loaded: an older file that is loaded later shows what a figure was before. A figure that comes again with the same value and currency is none, nor is one that a version adds or leaves out. What a night brought has that night's known_since. Of versions that the lake still has: history_begins says since when.
-- example: FROM restatements WHERE line_item = 'NetSales' ORDER BY abs(percent) DESC
CREATE OR REPLACE VIEW restatements AS
WITH absences AS (
  SELECT internal_id, until, until_as_of, "next", loaded_at FROM (
    SELECT internal_id, version, as_of, until, until_as_of, loaded_at, lead(version) OVER (PARTITION BY internal_id ORDER BY as_of, version) AS "next"
    FROM companies_history
  ) WHERE until <> "next"
), steps AS (
  SELECT o.internal_id, o.consolidation, o.category, o.line_item, o.fiscal_year, o.value, o.currency,
    coalesce(a."next", o.until) AS "next", a.loaded_at AS loaded_before
  FROM financials_history AS o LEFT JOIN absences AS a ON a.internal_id = o.internal_id AND a.until = o.until AND a.until_as_of = o.until_as_of
  WHERE o.until IS NOT NULL
), changed AS (
  SELECT n.*, o.value AS old_value, o.currency AS old_currency, greatest(n.known_since, o.loaded_before) AS known,
    lead(n.version) OVER (PARTITION BY n.internal_id, n.consolidation, n.category, n.line_item, n.fiscal_year ORDER BY n.as_of, n.version) IS NULL AS is_last
  FROM steps AS o JOIN financials_history AS n ON n.internal_id = o.internal_id AND n.version = o."next"
    AND n.consolidation = o.consolidation AND n.category = o.category AND n.line_item = o.line_item AND n.fiscal_year = o.fiscal_year
  WHERE n.value <> o.value OR n.currency IS DISTINCT FROM o.currency
)
SELECT r.internal_id, v.company_name, r.country_code, r.consolidation, r.category, r.line_item, r.fiscal_year,
  r.old_value, r.value AS new_value,
  CASE WHEN r.old_currency IS NOT DISTINCT FROM r.currency THEN 100 * (r.value - r.old_value) / nullif(abs(r.old_value), 0) END AS percent,
  r.old_currency, r.currency AS new_currency, r.as_of, r.snapshot, r.loaded_at, r.known AS known_since,
  r.is_last AND c.internal_id IS NOT NULL AS is_current
FROM changed AS r
LEFT JOIN companies_history AS v ON v.internal_id = r.internal_id AND (v.as_of < r.as_of OR (v.as_of = r.as_of AND v.version <= r.version))
  AND (v.until IS NULL OR v.until_as_of > r.as_of OR (v.until_as_of = r.as_of AND v.until > r.version))
LEFT JOIN financials_history AS c ON c.is_current AND c.internal_id = r.internal_id AND c.consolidation = r.consolidation
  AND c.category = r.category AND c.line_item = r.line_item AND c.fiscal_year = r.fiscal_year
  AND c.value = r.value AND c.currency IS NOT DISTINCT FROM r.currency;

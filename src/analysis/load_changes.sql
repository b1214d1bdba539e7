-- What each load brought: a row a run that loaded companies. The four parts add up to the companies.
-- group: lake
-- columns:
--   run: run
--   snapshot: first snapshot that shows it
--   loaded_at: when that was committed
--   companies: companies that it holds
--   added: of these the ones that no load had before
--   restated: ones that came again with another value or currency of a figure
--   changed: ones that came again with other data or further or fewer figures, none restated
--   unchanged: ones that came again as they were
-- rule: Compared with the version before. A compaction leaves current versions only, and so what is left counts as added.
-- example: FROM load_changes ORDER BY run DESC LIMIT 5
CREATE OR REPLACE VIEW load_changes AS
WITH versions AS (
  SELECT internal_id, version, run, snapshot, loaded_at, lag(version) OVER (PARTITION BY internal_id ORDER BY version) AS before,
    hash(*COLUMNS(* EXCLUDE (snapshot, run, loaded_at, version, is_current))) AS own
  FROM companies_history
), again AS (
  SELECT DISTINCT internal_id FROM versions WHERE before IS NOT NULL
), sums AS (
  SELECT internal_id, version, bit_xor(hash(consolidation, category, line_item, fiscal_year, value, currency)) AS part
  FROM financials_history WHERE internal_id IN (FROM again) GROUP BY ALL
  UNION ALL SELECT internal_id, version, bit_xor(hash(consolidation, fiscal_year, employees)) 
  FROM employees_history WHERE internal_id IN (FROM again) GROUP BY ALL
), parts AS (
  SELECT internal_id, version, list(part ORDER BY part) AS parts FROM sums GROUP BY ALL
), held AS (
  SELECT v.*, p.parts FROM versions AS v LEFT JOIN parts AS p USING (internal_id, version)
), compared AS (
  SELECT n.run, n.snapshot, n.loaded_at, n.internal_id, bool_or(n.before IS NULL) AS is_added,
    bool_or(n.own <> o.own OR n.parts IS DISTINCT FROM o.parts) AS is_changed
  FROM held AS n LEFT JOIN held AS o ON o.internal_id = n.internal_id AND o.version = n.before
  GROUP BY ALL
), found AS (
  SELECT c.*, r.internal_id IS NOT NULL AS is_restated
  FROM compared AS c LEFT JOIN (SELECT DISTINCT internal_id, snapshot FROM restatements) AS r USING (internal_id, snapshot)
)
SELECT run, snapshot, loaded_at, count(*) AS companies, count(*) FILTER (is_added) AS added,
  count(*) FILTER (NOT is_added AND is_restated) AS restated,
  count(*) FILTER (NOT is_added AND NOT is_restated AND is_changed) AS changed,
  count(*) FILTER (NOT is_added AND NOT is_restated AND NOT coalesce(is_changed, false)) AS unchanged
FROM found GROUP BY ALL;

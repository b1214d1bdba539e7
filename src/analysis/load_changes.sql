-- What each load brought: a row a run that loaded companies. The five parts add up to the companies.
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
--   older: ones of which the lake had newer data already: what came is history
-- rule: Compared with the version that was current before the load. A compaction leaves current versions only, and so what is left counts as added.
-- example: FROM load_changes ORDER BY run DESC LIMIT 5
CREATE OR REPLACE VIEW load_changes AS
WITH known AS (
  SELECT internal_id, version, run, snapshot, loaded_at, {'as_of': as_of, 'version': version} AS place,
    hash(*COLUMNS(* EXCLUDE (snapshot, run, loaded_at, as_of, version, until, until_as_of, shown_from, shown_until, known_since, is_current))) AS own
  FROM companies_history
), versions AS (
  SELECT *, max(place) OVER (PARTITION BY internal_id ORDER BY version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last FROM known
), again AS (
  SELECT DISTINCT internal_id FROM versions WHERE last IS NOT NULL
), figures AS (
  SELECT internal_id, version, consolidation, category, line_item, fiscal_year, value, currency
  FROM financials_history WHERE internal_id IN (FROM again)
), sums AS (
  SELECT internal_id, version, bit_xor(hash(consolidation, category, line_item, fiscal_year, value, currency)) AS part FROM figures GROUP BY ALL
  UNION ALL SELECT internal_id, version, bit_xor(hash(consolidation, fiscal_year, employees))
  FROM employees_history WHERE internal_id IN (FROM again) GROUP BY ALL
), parts AS (
  SELECT internal_id, version, list(part ORDER BY part) AS parts FROM sums GROUP BY ALL
), held AS (
  SELECT v.*, p.parts FROM versions AS v LEFT JOIN parts AS p USING (internal_id, version)
), compared AS (
  SELECT n.run, n.snapshot, n.loaded_at, n.internal_id, n.version, n.last.version AS before, coalesce(n.last > n.place, false) AS is_older,
    coalesce(n.own <> o.own OR n.parts IS DISTINCT FROM o.parts, false) AS is_changed
  FROM held AS n LEFT JOIN held AS o ON o.internal_id = n.internal_id AND o.version = n.last.version
), restated AS (
  SELECT DISTINCT c.internal_id, c.version FROM compared AS c
  JOIN figures AS n ON n.internal_id = c.internal_id AND n.version = c.version
  JOIN figures AS o ON o.internal_id = c.internal_id AND o.version = c.before AND o.consolidation = n.consolidation
    AND o.category = n.category AND o.line_item = n.line_item AND o.fiscal_year = n.fiscal_year
  WHERE c.is_changed AND NOT c.is_older AND (n.value <> o.value OR n.currency IS DISTINCT FROM o.currency)
), found AS (
  SELECT c.run, c.snapshot, c.loaded_at, c.internal_id, bool_and(c.is_older) AS is_older, bool_or(c.before IS NULL) AS is_added,
    bool_or(c.is_changed AND NOT c.is_older) AS is_changed, bool_or(r.internal_id IS NOT NULL) AS is_restated
  FROM compared AS c LEFT JOIN restated AS r USING (internal_id, version) GROUP BY ALL
)
SELECT run, snapshot, loaded_at, count(*) AS companies, count(*) FILTER (is_added) AS added,
  count(*) FILTER (NOT is_added AND is_restated) AS restated,
  count(*) FILTER (NOT is_added AND NOT is_restated AND is_changed) AS changed,
  count(*) FILTER (NOT is_added AND NOT is_restated AND NOT is_changed AND NOT is_older) AS unchanged,
  count(*) FILTER (is_older) AS older
FROM found GROUP BY ALL;

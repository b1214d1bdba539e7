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
-- rule: Compared with what was current before the load, as the lake has it now; of a company that comes in several files of a load the last one counts. Loads whose rows a compaction has put together are left out: which companies they had unchanged is not known any more. history_begins says since when there are all.
-- example: FROM load_changes ORDER BY run DESC LIMIT 5
CREATE OR REPLACE VIEW load_changes AS
WITH known AS (
  SELECT internal_id, run, snapshot, loaded_at, version, shown_from, shown_until, shown_until IS NULL OR shown_until > shown_from AS is_shown,
    min(loaded_at) OVER (PARTITION BY internal_id) = loaded_at AS is_first,
    hash(*COLUMNS(* EXCLUDE (snapshot, run, loaded_at, as_of, version, until, until_as_of, shown_from, shown_until, known_since, is_current))) AS own
  FROM companies_history
), states AS (
  SELECT internal_id, run, version, own, is_first, lag(shown_until) OVER in_time AS before_until, lag(own) OVER in_time AS before_own
  FROM known WHERE is_shown WINDOW in_time AS (PARTITION BY internal_id ORDER BY shown_from)
), again AS (
  SELECT DISTINCT internal_id FROM states WHERE before_until IS NOT NULL
), figures AS (
  SELECT internal_id, version, shown_until, consolidation, category, line_item, fiscal_year, value, currency
  FROM financials_history WHERE internal_id IN (FROM again) AND (shown_until IS NULL OR shown_until > shown_from)
), sums AS (
  SELECT internal_id, version, shown_until, hash(consolidation, category, line_item, fiscal_year, value, currency) AS part FROM figures
  UNION ALL SELECT internal_id, version, shown_until, hash(consolidation, fiscal_year, employees)
  FROM employees_history WHERE internal_id IN (FROM again) AND (shown_until IS NULL OR shown_until > shown_from)
), came AS (
  SELECT internal_id, version, bit_xor(part) AS parts FROM sums GROUP BY ALL
), went AS (
  SELECT internal_id, shown_until, bit_xor(part) AS parts FROM sums GROUP BY ALL
), compared AS (
  SELECT s.*, s.before_until IS NOT NULL AND (s.own <> s.before_own OR c.parts IS DISTINCT FROM w.parts) AS is_changed
  FROM states AS s LEFT JOIN came AS c ON c.internal_id = s.internal_id AND c.version = s.version
  LEFT JOIN went AS w ON w.internal_id = s.internal_id AND w.shown_until = s.before_until
), restated AS (
  SELECT DISTINCT c.internal_id, c.version FROM compared AS c
  JOIN figures AS n ON n.internal_id = c.internal_id AND n.version = c.version
  JOIN figures AS o ON o.internal_id = c.internal_id AND o.shown_until = c.before_until AND o.consolidation = n.consolidation
    AND o.category = n.category AND o.line_item = n.line_item AND o.fiscal_year = n.fiscal_year
  WHERE c.is_changed AND (n.value <> o.value OR n.currency IS DISTINCT FROM o.currency)
), found AS (
  SELECT k.run, k.snapshot, k.loaded_at, k.internal_id, bool_or(k.is_first) AS is_added,
    coalesce(bool_or(c.is_changed), false) AS is_changed, count(r.internal_id) > 0 AS is_restated, count(c.internal_id) = 0 AS is_older
  FROM known AS k LEFT JOIN compared AS c USING (internal_id, version) LEFT JOIN restated AS r USING (internal_id, version)
  WHERE k.run NOT IN (SELECT run FROM firmlake.fact_partitions() WHERE is_merged)
  GROUP BY ALL
)
SELECT run, snapshot, loaded_at, count(*) AS companies, count(*) FILTER (is_added) AS added,
  count(*) FILTER (NOT is_added AND is_restated) AS restated,
  count(*) FILTER (NOT is_added AND NOT is_restated AND is_changed) AS changed,
  count(*) FILTER (NOT is_added AND NOT is_changed AND NOT is_older) AS unchanged,
  count(*) FILTER (NOT is_added AND is_older) AS older
FROM found GROUP BY ALL;

-- What each load brought of each company: a row a run and company.
-- group: lake
-- columns:
--   run: run
--   snapshot: first snapshot that shows it
--   loaded_at: when that was committed
--   internal_id: company
--   company_name: name of the company as it came
--   country_code: country of the company as it came
--   change: added, restated, changed, unchanged or older, as load_changes counts them
-- rule: Compared with what was current before the load, as the lake has it now; of a company that comes in several files of a load the last one counts. Loads whose rows a compaction has put together are left out: which companies they had unchanged is not known any more. history_begins says since when there are all.
-- example: FROM load_companies WHERE change = 'added' ORDER BY loaded_at DESC, company_name LIMIT 20
CREATE OR REPLACE VIEW load_companies AS
WITH known AS (
  SELECT internal_id, company_name, country_code, run, snapshot, loaded_at, as_of, version, shown_from, shown_until, shown_until IS NULL OR shown_until > shown_from AS is_shown,
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
)
SELECT k.run, k.snapshot, k.loaded_at, k.internal_id, arg_max(k.company_name, (k.as_of, k.version)) AS company_name,
  arg_max(k.country_code, (k.as_of, k.version)) AS country_code,
  CASE WHEN bool_or(k.is_first) THEN 'added' WHEN count(r.internal_id) > 0 THEN 'restated' WHEN bool_or(c.is_changed) THEN 'changed'
    WHEN count(c.internal_id) > 0 THEN 'unchanged' ELSE 'older' END AS change
FROM known AS k LEFT JOIN compared AS c USING (internal_id, version) LEFT JOIN restated AS r USING (internal_id, version)
WHERE k.run NOT IN (SELECT run FROM firmlake.fact_partitions() WHERE is_merged)
GROUP BY k.run, k.snapshot, k.loaded_at, k.internal_id;

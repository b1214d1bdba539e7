-- What changed in a company's own data from one version to the next: a row a column.
-- group: companies
-- columns:
--   internal_id: company
--   company_name: name of the company in the new version
--   country_code: country of the company in the new version
--   column_name: column of companies
--   old_value: value before, as text
--   new_value: value afterwards, as text
--   snapshot: snapshot that shows the new value first
--   loaded_at: when that was committed
--   is_current: whether the new version is the current one
-- rule: Values are compared with the version before, by when the service said them (as_of); NULL is a value. Of versions that the lake still has: a compaction leaves the current ones alone, so that changes begin behind it; history_begins says since when.
-- example: FROM company_changes WHERE column_name = 'operational_status_name'
CREATE OR REPLACE VIEW company_changes AS
WITH changed AS (
  SELECT * FROM companies_history
  WHERE internal_id IN (SELECT internal_id FROM companies_history GROUP BY ALL HAVING count(*) > 1)
), texts AS (
  SELECT internal_id AS id, company_name AS name, country_code AS country, as_of AS a, version AS v, snapshot AS s, loaded_at AS t, is_current AS c,
    COLUMNS(* EXCLUDE (internal_id, snapshot, run, loaded_at, as_of, version, until, until_as_of, shown_from, shown_until, known_since, is_current))::VARCHAR
  FROM changed
), long AS (
  FROM texts UNPIVOT INCLUDE NULLS (new_value FOR column_name IN (COLUMNS(* EXCLUDE (id, name, country, a, v, s, t, c))))
), compared AS (
  SELECT *, lag(new_value) OVER w AS old_value, row_number() OVER w AS place FROM long
  WINDOW w AS (PARTITION BY id, column_name ORDER BY a, v)
)
SELECT id AS internal_id, name AS company_name, country AS country_code, column_name, old_value, new_value, s AS snapshot, t AS loaded_at, c AS is_current
FROM compared WHERE place > 1 AND old_value IS DISTINCT FROM new_value;

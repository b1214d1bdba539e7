-- What changed in a company's own data from one version to the next: a row a column.
-- group: companies
-- columns:
--   internal_id: company
--   company_name: name of the company in the new version
--   country_code: country of the company in the new version
--   column_name: column of companies
--   old_value: value before, as text
--   new_value: value afterwards, as text
--   as_of: when the service said the new value
--   snapshot: snapshot that shows the new value first
--   loaded_at: when that was committed
--   known_since: since when this lake has both versions, and so the change
--   is_current: whether the new value is the current one
-- rule: Values are compared with the version before, by when the service said them (as_of); NULL is a value. What a night brought has that night's known_since. Of versions that the lake still has: history_begins says since when.
-- example: FROM company_changes WHERE column_name = 'operational_status_name'
CREATE OR REPLACE VIEW company_changes AS
WITH changed AS (
  SELECT * FROM companies_history
  WHERE internal_id IN (SELECT internal_id FROM companies_history GROUP BY ALL HAVING count(*) > 1)
), texts AS (
  SELECT internal_id AS id, company_name AS name, country_code AS country, as_of AS a, version AS v, snapshot AS s, loaded_at AS t, known_since AS k,
    bool_or(is_current) OVER (PARTITION BY internal_id) AS c,
    COLUMNS(* EXCLUDE (internal_id, snapshot, run, loaded_at, as_of, version, until, until_as_of, shown_from, shown_until, known_since, is_current))::VARCHAR
  FROM changed
), long AS (
  FROM texts UNPIVOT INCLUDE NULLS (new_value FOR column_name IN (COLUMNS(* EXCLUDE (id, name, country, a, v, s, t, k, c))))
), compared AS (
  SELECT *, lag(new_value) OVER w AS old_value, row_number() OVER w AS place FROM long
  WINDOW w AS (PARTITION BY id, column_name ORDER BY a, v)
), found AS (
  SELECT *, row_number() OVER (PARTITION BY id, column_name ORDER BY a DESC, v DESC) AS last_place
  FROM compared WHERE place > 1 AND old_value IS DISTINCT FROM new_value
)
SELECT id AS internal_id, name AS company_name, country AS country_code, column_name, old_value, new_value, a AS as_of, s AS snapshot, t AS loaded_at,
  k AS known_since, c AND last_place = 1 AS is_current
FROM found;

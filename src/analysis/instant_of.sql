-- The instant that a question by date means: of a day its end in UTC, of a time without an offset that time in UTC.
-- group: lake
-- parameters:
--   instant: a day such as '2026-03-31' or DATE '2026-03-31', or a time such as '2026-03-31 12:00:00+02'
-- example: SELECT instant_of('2026-03-31')
CREATE OR REPLACE MACRO instant_of(instant) AS
coalesce(try_cast(CASE
  WHEN regexp_full_match(trim(instant::VARCHAR), '\d{4}-\d{2}-\d{2}') THEN concat(trim(instant::VARCHAR), ' 23:59:59.999999+00')
  WHEN regexp_matches(instant::VARCHAR, ':\d{2}[^+-]*([zZ]|[+-]\d{2}(:?\d{2})?)\s*$') THEN instant::VARCHAR
  ELSE try_cast(instant::VARCHAR AS TIMESTAMP)::VARCHAR || '+00'
END AS TIMESTAMPTZ), error(concat('Cannot take "', instant, '" as an instant: expected a day such as 2026-03-31, or a time such as 2026-03-31 12:00:00'))::TIMESTAMPTZ);

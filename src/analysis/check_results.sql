-- The results of checks, of the loads that were checked before they were shown.
-- group: lake
-- columns:
--   snapshot: snapshot that the load made
--   run: run of the load
--   checked_at: when it was checked
--   rule: the expectation or rule
--   status: passed, failed (it failed as much before the load, or the load was released) or note
--   value: the value found: seconds, records, a share, or how many findings; do not add those of several checks
--   value_limit: the largest value that passes, for companies the least; NULL where nothing may be found
--   expected: the same in words
--   keys: of a rule of your own the ids of companies or entities in its findings (internal_id, company_id or entity_id), at most 100; NULL of all others
-- rule: A load that is held back has no result here until it is released; one that is discarded has none.
-- example: FROM check_results WHERE status = 'failed' ORDER BY snapshot DESC
CREATE OR REPLACE VIEW check_results AS
SELECT snapshot, run, time::TIMESTAMPTZ AS checked_at, name AS rule, status, value, "limit" AS value_limit, expected,
  string_split(keys, ' ')::BIGINT[] AS keys
FROM firmlake.fact_checks();

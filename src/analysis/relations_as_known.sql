-- The rows of relations, as this lake showed them at an instant.
-- group: ownership
-- parameters:
--   instant: a day, which means its end in UTC, or a time; see instant_of
-- columns:
--   …: the columns of relations
-- rule: Of what was committed by then, the version that the service had said last: a file that came later is not seen, however old it is.
-- example: SELECT count(*) FROM relations_as_known('2026-03-31')
CREATE OR REPLACE MACRO relations_as_known(instant) AS TABLE
SELECT * EXCLUDE (snapshot, run, loaded_at, as_of, version, until, until_as_of, shown_from, shown_until, known_since, is_current)
FROM relations_history
WHERE shown_from <= instant_of(instant) AND (shown_until IS NULL OR shown_until > instant_of(instant));

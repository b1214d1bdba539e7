-- The rows of relations, as the service had said by an instant, with all that this lake knows now.
-- group: ownership
-- parameters:
--   instant: a day, which means its end in UTC, or a time; see instant_of
-- columns:
--   …: the columns of relations
-- rule: By as_of: a file that was loaded later than the instant counts, if the service had made it by then. It begins at the first delivery: whatever that has is as of one instant.
-- example: SELECT count(*) FROM relations_as_of('2026-03-31')
CREATE OR REPLACE MACRO relations_as_of(instant) AS TABLE
SELECT * EXCLUDE (snapshot, run, loaded_at, as_of, version, until, until_as_of, shown_from, shown_until, known_since, is_current)
FROM relations_history
WHERE as_of <= instant_of(instant) AND (until_as_of IS NULL OR until_as_of > instant_of(instant));

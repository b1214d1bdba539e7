-- The runs whose rows the snapshot shows, or that a compaction has merged.
-- group: lake
-- columns:
--   run: id
--   snapshot: first snapshot that shows it
--   loaded_at: when that was committed
--   partitions: partitions
--   lines: lines read
--   records: records loaded
--   quarantined: lines that could not be loaded
--   filtered: good lines that were left out, as the load was told to
--   rows: rows in all tables that stand in files of the run
--   bytes: length of these files
-- example: FROM runs ORDER BY run DESC LIMIT 5
CREATE OR REPLACE VIEW runs AS
SELECT run, min(snapshot) AS snapshot, min(loaded_at) AS loaded_at, count(*) AS partitions,
  sum(lines)::BIGINT AS lines, sum(records)::BIGINT AS records, sum(quarantined)::BIGINT AS quarantined,
  sum(filtered)::BIGINT AS filtered,
  sum(rows)::BIGINT AS rows, sum(bytes)::BIGINT AS bytes
FROM partitions GROUP BY run;

-- The partitions of the snapshot: what one unit of work loaded.
-- group: lake
-- columns:
--   partition: id
--   run: run that loaded it
--   content: companies or relations
--   is_merged: whether a compaction has put its rows together with others
--   lines: lines read
--   records: records loaded
--   quarantined: lines that could not be loaded
--   filtered: good lines that were left out, as the load was told to
--   rows: rows in all tables; 0 of a merged one
--   files: files that it has now
--   bytes: length of these files
--   requested_from: first day asked for
--   requested_to: last day asked for
--   seen_from: earliest date in the records
--   seen_to: latest date in the records
--   snapshot: first snapshot that shows it
--   loaded_at: when that was committed
--   as_of: when the service said what it holds; where its records have different instants, the latest
--   version: number of its rows in the history views
-- example: SELECT run, sum(records) FROM partitions GROUP BY ALL
CREATE OR REPLACE VIEW partitions AS
SELECT partition, run, content, is_merged, lines, records, quarantined, filtered, rows, files, bytes,
  requested_from::DATE AS requested_from, requested_to::DATE AS requested_to,
  least::TIMESTAMPTZ AS seen_from, greatest::TIMESTAMPTZ AS seen_to, snapshot, "time"::TIMESTAMPTZ AS loaded_at, as_of::TIMESTAMPTZ AS as_of, version
FROM firmlake.fact_partitions();

-- Lines that could not be loaded, by load, source and reason code; never the lines themselves.
-- group: lake
-- columns:
--   run: run that read them
--   snapshot: first snapshot that shows it
--   loaded_at: when that was committed
--   content: companies or relations
--   source: name of the source as given
--   code: reason code
--   lines: lines
-- example: SELECT code, sum(lines) FROM quarantine_by_load GROUP BY ALL
CREATE OR REPLACE VIEW quarantine_by_load AS
SELECT p.run, p.snapshot, p.loaded_at, q.content, q.source, q.code, count(*) AS lines
FROM quarantine AS q LEFT JOIN partitions AS p ON p.partition = q.partition AND p.content = q.content
GROUP BY ALL;

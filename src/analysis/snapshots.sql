-- The snapshots of the lake that gc has kept.
-- group: lake
-- columns:
--   snapshot: number
--   parent: number of the one before
--   run: run that made it
--   pipeline: kind of the run
--   tool: name and version of what made it
--   committed_at: when it was committed
-- example: FROM snapshots ORDER BY snapshot DESC LIMIT 5
CREATE OR REPLACE VIEW snapshots AS
SELECT snapshot, parent, run, pipeline, tool, "time"::TIMESTAMPTZ AS committed_at FROM firmlake.fact_snapshots();

-- Since when the lake has all versions, by content: a compaction keeps them, unless it was told to drop past rows.
-- group: lake
-- columns:
--   content: companies or relations
--   is_compacted: whether a compaction has put older loads together
--   snapshot: first snapshot of which all versions are there
--   loaded_at: since when all versions are there; rows that were replaced before are gone
--   merged_loads: runs whose loads were put together
-- rule: Where past rows were dropped, what changed before is in the older snapshots, as long as gc keeps them: query --snapshot N reads one, diff --from N --to M compares two.
-- example: FROM history_begins WHERE is_compacted
CREATE OR REPLACE VIEW history_begins AS
SELECT content, bool_or(is_merged) AS is_compacted, min(snapshot) FILTER (past IS NULL OR "time" >= past) AS snapshot,
  coalesce(max(past), min("time"))::TIMESTAMPTZ AS loaded_at, count(DISTINCT run) FILTER (is_merged) AS merged_loads
FROM (SELECT *, max(past_since) OVER (PARTITION BY content) AS past FROM firmlake.fact_partitions()) GROUP BY content;

-- Since when the lake has all versions, by content: a compaction leaves the current ones alone.
-- group: lake
-- columns:
--   content: companies or relations
--   is_compacted: whether a compaction has put older loads together; restatements, company_changes and history views begin behind it then
--   snapshot: first snapshot whose rows still come as they were loaded, or as they were compacted
--   loaded_at: when that was committed
--   merged_loads: runs whose older versions are gone
-- rule: What changed before is in the older snapshots, as long as gc keeps them: query --snapshot N reads one, diff --from N --to M compares two.
-- example: FROM history_begins WHERE is_compacted
CREATE OR REPLACE VIEW history_begins AS
SELECT content, bool_or(is_merged) AS is_compacted, min(snapshot) FILTER (NOT is_merged) AS snapshot,
  min(loaded_at) FILTER (NOT is_merged) AS loaded_at, count(DISTINCT run) FILTER (is_merged) AS merged_loads
FROM partitions GROUP BY content;

-- What was seen that the contract does not know, by partition.
-- group: lake
-- columns:
--   run: run that saw it
--   content: companies or relations
--   partition: partition
--   kind: field, category, line-item, code; more for the rest where there are too many
--   name: where it stands
--   records: records that have it
-- example: SELECT kind, name, sum(records) FROM drift GROUP BY ALL ORDER BY 3 DESC
CREATE OR REPLACE VIEW drift AS
SELECT run, content, partition, kind, name, records FROM firmlake.fact_drift();

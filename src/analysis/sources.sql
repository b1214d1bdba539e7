-- Where the lines came from: files, windows of searches, batch files of the service.
-- group: lake
-- columns:
--   run: run that loaded it
--   content: companies or relations
--   partition: partition that holds it, or a block of it
--   kind: file, stdin, quarantine, search or batch
--   name: path or name as given; of a search its window
--   bytes: length as taken in
--   sha256: hash of these bytes
--   block: number of the block, from 0
--   is_last: whether it is the last block
--   lines: lines of the partition that are of it
--   records: records of these
--   quarantined: lines of these that could not be loaded
--   filtered: good lines of these that were left out
--   service: address of the service
--   currency: currency that was asked for
--   announced: records that the service announced
--   received: records that it gave
-- example: FROM sources WHERE announced <> received
CREATE OR REPLACE VIEW sources AS
SELECT run, content, partition, kind, name, bytes, sha256, block, is_last, lines, records, quarantined, filtered,
  service, currency, announced, received
FROM firmlake.fact_sources();

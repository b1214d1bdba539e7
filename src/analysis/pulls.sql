-- Pulls and syncs from a service.
-- group: lake
-- columns:
--   run: run
--   content: companies or relations
--   service: address of the service
--   search: parameters of the search, as JSON
--   currency: currency that was asked for
--   field: date parameter of the windows
--   requested_from: first day asked for
--   requested_to: last day asked for
--   as_of: when the service was asked first, by its clock
--   announced: records that the service announced for the whole search: received and gap_left together
--   planned: records that the windows announced when they were planned
--   received: records that it gave
--   gap_left: records that were announced and did not come: in no window and not found otherwise, or not given
-- example: FROM pulls WHERE gap_left > 0
CREATE OR REPLACE VIEW pulls AS
SELECT run, content, service, search, currency, field, from_day::DATE AS requested_from, to_day::DATE AS requested_to,
  as_of::TIMESTAMPTZ AS as_of, announced, planned, received, gap_left
FROM firmlake.fact_pulls();

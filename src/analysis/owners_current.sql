-- Ownership records that are in force, from owner to owned company.
-- group: ownership
-- columns:
--   kind: Direct, Ultimate, Beneficial or Structure: the same stake may be stated in several kinds
--   owner_id: who owns, a company or a person
--   owned_id: the company that is owned
--   stake: percent, where one figure is stated; stakes of several kinds, share classes or records do not add up: see owner_holdings
--   min_stake: percent, the least that is stated, else the stake
--   max_stake: percent, the greatest that is stated, else the stake
--   share_class: share class
--   since: day on which it became effective, UTC
--   reported_by_id: company whose relations state it
-- rule: One row a record; owner_holdings has one row an owner and company, whose stakes can be added. Records outside of histories and without an end. The owned company's own record counts; that of the owner only where the owned company's does not state the owner in that kind.
-- example: FROM owners_current WHERE owned_id = 1001 AND kind = 'Direct' ORDER BY max_stake DESC
CREATE OR REPLACE VIEW owners_current AS
SELECT s.kind, s.* EXCLUDE (kind, by_owned) FROM owners_stated AS s
WHERE s.by_owned OR NOT EXISTS (
  SELECT 1 FROM owners_stated AS o
  WHERE o.by_owned AND o.owner_id = s.owner_id AND o.owned_id = s.owned_id AND o.kind = s.kind
);

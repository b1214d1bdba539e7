-- Ownership records that are in force as each side states them, from owner to owned company.
-- group: ownership
-- columns:
--   owner_id: who owns, a company or a person
--   owned_id: the company that is owned
--   kind: Direct, Ultimate, Beneficial or Structure
--   by_owned: whether the owned company's relations state it; else those of the owner do
--   stake: percent, where one figure is stated; stakes of several kinds, share classes or records, or of both sides, do not add up: see owner_holdings
--   min_stake: percent, the least that is stated, else the stake
--   max_stake: percent, the greatest that is stated, else the stake
--   share_class: share class
--   since: day on which it became effective, UTC
--   reported_by_id: company whose relations state it
-- rule: Records outside of histories and without an end. Most holdings are stated by both sides: owners_current has each once.
-- example: FROM owners_stated WHERE owned_id = 1001 AND NOT by_owned
CREATE OR REPLACE VIEW owners_stated AS
SELECT CASE direction WHEN 'parent' THEN entity_id ELSE company_id END AS owner_id,
  CASE direction WHEN 'parent' THEN company_id ELSE entity_id END AS owned_id,
  kind, direction = 'parent' AS by_owned, ownership_stake AS stake,
  coalesce(min_ownership_stake, ownership_stake) AS min_stake,
  coalesce(max_ownership_stake, ownership_stake) AS max_stake,
  share_class, make_timestamp(epoch_us(in_date))::DATE AS since, company_id AS reported_by_id
FROM ownerships WHERE NOT is_history AND out_date IS NULL;

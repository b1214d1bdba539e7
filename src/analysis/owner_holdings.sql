-- What each owner holds directly: one row an owner and company.
-- group: ownership
-- columns:
--   owner_id: who owns, a company or a person
--   owned_id: the company that is owned
--   min_stake: percent, least; 0 where nothing is stated
--   max_stake: percent, greatest; 100 where nothing is stated
--   is_stated: whether any record states a stake or a range
--   records: ownership records of the pair
-- rule: Direct ownership of owners_current. Records of different share classes are added up, of several in one class the greatest counts; no holding is above 100. Records without a stake count only where no other of the pair has one.
-- example: SELECT owner_id, count(*) FROM owner_holdings GROUP BY ALL ORDER BY 2 DESC LIMIT 10
CREATE OR REPLACE VIEW owner_holdings AS
WITH classes AS (
  SELECT owner_id, owned_id, share_class,
    max(CASE WHEN coalesce(min_stake, max_stake) IS NOT NULL THEN coalesce(min_stake, 0) END) AS min_stake,
    max(CASE WHEN coalesce(min_stake, max_stake) IS NOT NULL THEN coalesce(max_stake, 100) END) AS max_stake,
    count(*) AS records
  FROM owners_current WHERE kind = 'Direct' GROUP BY ALL
)
SELECT owner_id, owned_id,
  least(coalesce(sum(min_stake), 0), 100) AS min_stake, least(coalesce(sum(max_stake), 100), 100) AS max_stake,
  bool_or(min_stake IS NOT NULL) AS is_stated, sum(records)::BIGINT AS records
FROM classes GROUP BY owner_id, owned_id;

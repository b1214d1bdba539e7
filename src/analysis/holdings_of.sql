-- Who holds some companies directly, and how much of each: one row an owner and company.
-- group: ownership
-- parameters:
--   ids: list of internal_id of the companies that are owned; NULL: all
-- columns:
--   owner_id: who owns, a company or a person
--   owned_id: the company that is owned
--   min_stake: percent, least; 0 where nothing is stated
--   max_stake: percent, greatest; 100 where nothing is stated
--   is_stated: whether any record states a stake or a range
--   records: ownership records of the pair
-- rule: Direct ownership; the owned company's records count, those of the owner only where the owned company's do not state the owner. Of a record the stake counts, of a range without one both ends. Records of different share classes are added up, of several in one class the greatest counts; no holding is above 100. Records without a stake count only where no other of the pair has one.
-- example: FROM holdings_of([1001, 1002])
CREATE OR REPLACE MACRO holdings_of(ids) AS TABLE
WITH listed AS (
  SELECT DISTINCT unnest(every) AS listed_id FROM (SELECT ids::BIGINT[] AS every)
), direct AS (
  -- Of both halves one is empty, and its scan is left out.
  SELECT owner_id, owned_id, by_owned, coalesce(stake, min_stake) AS min_stake, coalesce(stake, max_stake) AS max_stake, share_class
  FROM owners_stated WHERE kind = 'Direct' AND ids IS NULL
  UNION ALL
  SELECT owner_id, owned_id, by_owned, coalesce(stake, min_stake), coalesce(stake, max_stake), share_class
  FROM owners_stated JOIN listed ON listed_id = owned_id WHERE kind = 'Direct'
), classes AS (
  SELECT owner_id, owned_id, by_owned, share_class,
    max(CASE WHEN coalesce(min_stake, max_stake) IS NOT NULL THEN coalesce(min_stake, 0) END) AS min_stake,
    max(CASE WHEN coalesce(min_stake, max_stake) IS NOT NULL THEN coalesce(max_stake, 100) END) AS max_stake,
    count(*) AS records
  FROM direct GROUP BY ALL
), sides AS (
  SELECT owner_id, owned_id, by_owned,
    least(coalesce(sum(min_stake), 0), 100) AS min_stake, least(coalesce(sum(max_stake), 100), 100) AS max_stake,
    bool_or(min_stake IS NOT NULL) AS is_stated, sum(records) AS records
  FROM classes GROUP BY ALL
)
SELECT owner_id, owned_id,
  coalesce(max(min_stake) FILTER (by_owned), max(min_stake)) AS min_stake,
  coalesce(max(max_stake) FILTER (by_owned), max(max_stake)) AS max_stake,
  coalesce(bool_or(is_stated) FILTER (by_owned), bool_or(is_stated)) AS is_stated,
  coalesce(max(records) FILTER (by_owned), max(records))::BIGINT AS records
FROM sides GROUP BY owner_id, owned_id;

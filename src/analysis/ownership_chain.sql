-- Every path of direct ownership up from a company.
-- group: ownership
-- parameters:
--   id: internal_id of the company
--   depth: most levels, such as 10
-- columns:
--   owner_id: owner at the end of the path
--   level: levels above the company; 1 is a direct owner
--   min_stake: percent of the company by this path, least
--   max_stake: percent of the company by this path, greatest
--   path: ids from the company to the owner
--   is_cycle: whether the owner stands in the path already; such a path ends there and counts for nothing
--   is_top: whether nobody owns the owner, as far as the lake knows, but who stands in the path already
-- rule: owner_names has the names. Stakes of holdings_of are multiplied along a path; a range stays a range.
-- example: FROM ownership_chain(1001, 10) ORDER BY level, max_stake DESC
CREATE OR REPLACE MACRO ownership_chain(id, depth) AS TABLE
-- DuckDB keeps the rows of what is named twice and grouped, and reads them once; it forgets MATERIALIZED in a file.
WITH RECURSIVE edges AS (SELECT owner_id, owned_id FROM owners_stated WHERE kind = 'Direct' GROUP BY ALL),
above AS (
  SELECT e.owner_id, 1 AS level FROM edges AS e WHERE e.owned_id = id
  UNION
  SELECT e.owner_id, a.level + 1 FROM above AS a JOIN edges AS e ON e.owned_id = a.owner_id WHERE a.level < depth
), reached AS (SELECT list(DISTINCT owned_id) AS ids FROM (SELECT id::BIGINT AS owned_id UNION ALL SELECT owner_id FROM above)),
held AS (
  SELECT owner_id, owned_id, min_stake, max_stake FROM holdings_of((SELECT ids FROM reached))
), chain AS (
  SELECT h.owner_id, 1 AS level, h.min_stake, h.max_stake, [h.owned_id, h.owner_id] AS path,
    h.owner_id = h.owned_id AS is_cycle
  FROM held AS h WHERE h.owned_id = id AND depth > 0
  UNION ALL
  SELECT h.owner_id, c.level + 1, c.min_stake * h.min_stake / 100, c.max_stake * h.max_stake / 100,
    list_append(c.path, h.owner_id), list_contains(c.path, h.owner_id)
  FROM chain AS c JOIN held AS h ON h.owned_id = c.owner_id
  WHERE NOT c.is_cycle AND c.level < depth
)
SELECT c.owner_id, c.level, c.min_stake, c.max_stake, c.path, c.is_cycle,
  NOT c.is_cycle AND coalesce(list_has_all(c.path, o.owners), true) AS is_top
FROM chain AS c
LEFT JOIN (SELECT owned_id, list(owner_id) AS owners FROM held GROUP BY owned_id) AS o ON o.owned_id = c.owner_id;

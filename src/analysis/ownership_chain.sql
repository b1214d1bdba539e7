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
-- rule: Stakes of owner_holdings are multiplied along a path; a range stays a range.
-- example: FROM ownership_chain(1001, 10) ORDER BY level, max_stake DESC
CREATE OR REPLACE MACRO ownership_chain(id, depth) AS TABLE
WITH RECURSIVE held AS MATERIALIZED (SELECT owner_id, owned_id, min_stake, max_stake FROM owner_holdings),
chain AS (
  SELECT h.owner_id, 1 AS level, h.min_stake, h.max_stake, [h.owned_id, h.owner_id] AS path,
    h.owner_id = h.owned_id AS is_cycle
  FROM held AS h WHERE h.owned_id = id AND depth > 0
  UNION ALL
  SELECT h.owner_id, c.level + 1, c.min_stake * h.min_stake / 100, c.max_stake * h.max_stake / 100,
    list_append(c.path, h.owner_id), list_contains(c.path, h.owner_id)
  FROM chain AS c JOIN held AS h ON h.owned_id = c.owner_id
  WHERE NOT c.is_cycle AND c.level < depth
)
SELECT owner_id, level, min_stake, max_stake, path, is_cycle FROM chain;

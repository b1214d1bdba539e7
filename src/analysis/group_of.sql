-- The companies of a company's group.
-- group: ownership
-- parameters:
--   id: internal_id of the company
-- columns:
--   internal_id: company of the group
--   company_name: name of the company; NULL where the lake has no record of its own of it
--   country_code: country of the company
--   level: levels below the head of the group, which has 0
--   is_head: whether it is the head
-- rule: A company belongs to the company, no person, that holds more than 50 percent of it for certain, which is min_stake of owner_holdings. Where records give several companies a majority of it, it belongs to the one with the greatest min_stake, of these to the one with the greatest max_stake, then with the least id. The head is the last company upwards; of a cycle the one with the least id. Name and country are those of companies, else those of relations.
-- example: FROM group_of(1001)
CREATE OR REPLACE MACRO group_of(id) AS TABLE
WITH RECURSIVE held AS MATERIALIZED (
  SELECT h.owner_id, h.owned_id FROM owner_holdings AS h
  WHERE h.min_stake > 50 AND h.owner_id <> h.owned_id
    -- Not NOT IN: one person without an identifier would be everybody.
    AND NOT EXISTS (SELECT 1 FROM relation_entities AS e WHERE e.entity_id = h.owner_id AND e.is_company = false)
  QUALIFY row_number() OVER (PARTITION BY h.owned_id ORDER BY h.min_stake DESC, h.max_stake DESC, h.owner_id) = 1
), above AS (
  SELECT id::BIGINT AS internal_id, [id::BIGINT] AS path
  UNION ALL
  SELECT h.owner_id, list_append(a.path, h.owner_id) FROM above AS a JOIN held AS h ON h.owned_id = a.internal_id
  WHERE NOT list_contains(a.path, h.owner_id)
), head AS (
  -- The owner of the last company, if any, stands in the path already: the cycle begins there.
  SELECT CASE WHEN h.owner_id IS NULL THEN a.internal_id ELSE list_min(a.path[list_position(a.path, h.owner_id):]) END AS internal_id
  FROM above AS a LEFT JOIN held AS h ON h.owned_id = a.internal_id ORDER BY len(a.path) DESC LIMIT 1
), below AS (
  SELECT internal_id, 0 AS level FROM head
  UNION ALL
  SELECT h.owned_id, b.level + 1 FROM below AS b JOIN held AS h ON h.owner_id = b.internal_id
  WHERE h.owned_id NOT IN (SELECT internal_id FROM head)
)
SELECT g.internal_id, coalesce(c.company_name, r.name) AS company_name, coalesce(c.country_code, r.country_code) AS country_code, g.level, g.level = 0 AS is_head
FROM below AS g
LEFT JOIN company_names AS c ON c.internal_id = g.internal_id
LEFT JOIN relations AS r ON r.internal_id = g.internal_id;

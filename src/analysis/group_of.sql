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
-- rule: A company belongs to the owner that holds more than 50 percent of it for certain (the least of a range), where that is no person. Name and country are those of companies, else those of relations. The head is the last company upwards; of a cycle the one with the least id.
-- example: FROM group_of(1001)
CREATE OR REPLACE MACRO group_of(id) AS TABLE
WITH RECURSIVE held AS MATERIALIZED (
  SELECT owner_id, owned_id FROM owner_holdings
  WHERE min_stake > 50 AND owner_id <> owned_id
    AND owner_id NOT IN (SELECT entity_id FROM relation_entities WHERE is_company = false)
), above AS (
  SELECT id::BIGINT AS internal_id, 0 AS up
  UNION
  SELECT h.owner_id, a.up + 1 FROM above AS a JOIN held AS h ON h.owned_id = a.internal_id WHERE a.up < 50
), head AS (
  -- Companies of a cycle are met more than once, those below it are not.
  SELECT a.internal_id FROM above AS a GROUP BY a.internal_id
  ORDER BY EXISTS (SELECT 1 FROM held AS h WHERE h.owned_id = a.internal_id), count(*) = 1, a.internal_id LIMIT 1
), below AS (
  SELECT internal_id, 0 AS level FROM head
  UNION
  SELECT h.owned_id, b.level + 1 FROM below AS b JOIN held AS h ON h.owner_id = b.internal_id WHERE b.level < 50
)
SELECT g.internal_id, coalesce(c.company_name, r.name) AS company_name, coalesce(c.country_code, r.country_code) AS country_code, g.level, g.level = 0 AS is_head
FROM (SELECT internal_id, min(level) AS level FROM below GROUP BY internal_id) AS g
LEFT JOIN company_names AS c ON c.internal_id = g.internal_id
LEFT JOIN relations AS r ON r.internal_id = g.internal_id;

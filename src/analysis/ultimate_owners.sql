-- Who stands at the top of a company's ownership, with the stake by all paths together.
-- group: ownership
-- parameters:
--   id: internal_id of the company
-- columns:
--   owner_id: owner at the top of a path
--   owner_name: name of the owner; NULL of a person with a protected identity
--   min_stake: percent of the company by all such paths, least
--   max_stake: percent of the company by all such paths, greatest
--   paths: paths that lead to the owner
--   level: levels of the shortest path
-- rule: Paths of ownership_chain up to 20 levels whose owner nobody owns, as far as the lake knows, but who stands in the path already: own shares and owners that own each other do not hide the top. Stakes are multiplied along each path and summed over paths, to 100 at most. Paths that come back to themselves count for nothing.
-- example: FROM ultimate_owners(1001) ORDER BY max_stake DESC
CREATE OR REPLACE MACRO ultimate_owners(id) AS TABLE
SELECT c.owner_id, any_value(o.owner_name) AS owner_name, least(sum(c.min_stake), 100) AS min_stake, least(sum(c.max_stake), 100) AS max_stake,
  count(*) AS paths, min(c.level) AS level
FROM ownership_chain(id, 20) AS c LEFT JOIN owner_names AS o ON o.owner_id = c.owner_id WHERE c.is_top GROUP BY c.owner_id;

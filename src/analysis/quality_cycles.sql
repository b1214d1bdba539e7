-- Companies that own each other in a circle.
-- group: quality
-- columns:
--   severity: error where each holding of a circle is a majority, otherwise note
--   internal_id: the company of the circle with the least id
--   company_name: name of the company; NULL where the lake has no record of its own of it
--   country_code: country of the company
--   fiscal_year: NULL
--   item: majority, or minority
--   value: companies in the shortest such circle
--   expected: 0
-- rule: Over owner_holdings, in circles of up to 10 companies; a company that holds its own shares is none. One row a company and item, ownership_chain(internal_id, 10) shows the circle. Cross-holdings are allowed and so a note, but nobody has a majority in himself.
-- found: of real data 0 errors and 0 notes in 156 owned companies; of generated data 0 errors and 0 notes in 5,999 owned companies
-- example: FROM quality_cycles ORDER BY severity, value
CREATE OR REPLACE VIEW quality_cycles AS
WITH RECURSIVE held AS MATERIALIZED (
  SELECT owner_id, owned_id, min_stake > 50 AS is_majority FROM owner_holdings WHERE owner_id <> owned_id AND max_stake > 0
), between AS MATERIALIZED (
  FROM held WHERE owner_id IN (SELECT owned_id FROM held) AND owned_id IN (SELECT owner_id FROM held)
), above AS (
  SELECT owned_id AS least_id, owner_id, 1 AS level, is_majority FROM between WHERE owner_id > owned_id
  UNION
  SELECT a.least_id, b.owner_id, a.level + 1, a.is_majority AND b.is_majority
  FROM above AS a JOIN between AS b ON b.owned_id = a.owner_id
  WHERE a.owner_id <> a.least_id AND b.owner_id >= a.least_id AND a.level < 10
)
SELECT CASE WHEN f.is_majority THEN 'error' ELSE 'note' END AS severity, f.least_id AS internal_id,
  coalesce(c.company_name, r.name) AS company_name, coalesce(c.country_code, r.country_code) AS country_code, NULL::SMALLINT AS fiscal_year,
  CASE WHEN f.is_majority THEN 'majority' ELSE 'minority' END AS item, f.level::DOUBLE AS value, 0::DOUBLE AS expected
FROM (SELECT least_id, is_majority, min(level) AS level FROM above WHERE owner_id = least_id GROUP BY ALL) AS f
LEFT JOIN company_names AS c ON c.internal_id = f.least_id
LEFT JOIN relations AS r ON r.internal_id = f.least_id;

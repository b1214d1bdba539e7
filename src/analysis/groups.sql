-- Companies that no other company's consolidated statement holds already: groups, and companies that are in none.
-- group: ownership
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
-- rule: Left out is a company below one that reports consolidated, by majorities: more than 50 percent for certain (min_stake of owner_holdings), on any number of levels. Of companies that own each other the one with the least id is kept. Totals over companies of groups leave subsidiaries out.
-- example: SELECT sum(value) FROM figures_in('EUR') SEMI JOIN groups USING (internal_id) WHERE line_item = 'NetSales' AND fiscal_year = 2023
CREATE OR REPLACE VIEW groups AS
WITH RECURSIVE held AS MATERIALIZED (
  SELECT owner_id, owned_id FROM owner_holdings WHERE min_stake > 50 AND owner_id <> owned_id
), below AS (
  SELECT h.owner_id AS head_id, h.owned_id FROM held AS h
  SEMI JOIN (FROM financials WHERE is_preferred AND consolidation = 'Consolidated') AS f ON f.internal_id = h.owner_id
  UNION
  SELECT b.head_id, h.owned_id FROM below AS b JOIN held AS h ON h.owner_id = b.owned_id
)
SELECT n.internal_id, n.company_name, n.country_code FROM company_names AS n
ANTI JOIN (
  SELECT b.owned_id FROM below AS b LEFT JOIN below AS back ON back.head_id = b.owned_id AND back.owned_id = b.head_id
  WHERE b.head_id <> b.owned_id AND (back.head_id IS NULL OR b.head_id < b.owned_id)
) AS s ON s.owned_id = n.internal_id;

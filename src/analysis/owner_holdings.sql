-- What each owner holds directly: one row an owner and company.
-- group: ownership
-- columns:
--   owner_id: who owns, a company or a person
--   owned_id: the company that is owned
--   min_stake: percent, least; 0 where nothing is stated
--   max_stake: percent, greatest; 100 where nothing is stated
--   is_stated: whether any record states a stake or a range
--   records: ownership records of the pair
-- rule: holdings_of all companies, where its rule stands.
-- example: SELECT owner_id, count(*) FROM owner_holdings GROUP BY ALL ORDER BY 2 DESC LIMIT 10
CREATE OR REPLACE VIEW owner_holdings AS
FROM holdings_of(NULL);

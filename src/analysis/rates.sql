-- Exchange rates, annual averages: the built-in ones and what was loaded into the lake above them.
-- group: money
-- columns:
--   currency: ISO 4217 code; the dollar has a row of its own
--   year: year
--   units_per_usd: units of the currency for one US dollar
-- example: FROM rates WHERE currency = 'SEK' AND year = 2020
CREATE OR REPLACE VIEW rates AS
SELECT currency, year, units_per_usd FROM firmlake.fact_rates()
UNION ALL
SELECT 'USD', year, 1 FROM (SELECT DISTINCT year FROM firmlake.fact_rates());

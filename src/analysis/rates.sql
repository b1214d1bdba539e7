-- Exchange rates, annual averages: the built-in ones, and above them what was loaded into the lake.
-- group: money
-- columns:
--   currency: ISO 4217 code
--   year: year
--   units_per_usd: units of the currency for one US dollar
-- example: FROM rates WHERE currency = 'SEK' AND year = 2020
CREATE OR REPLACE VIEW rates AS
SELECT currency, year, units_per_usd FROM firmlake.fact_rates()
UNION ALL
SELECT DISTINCT 'USD', year, 1 FROM firmlake.fact_rates();

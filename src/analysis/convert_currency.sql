-- An amount of a fiscal year in another currency, by the average rate of that year.
-- group: money
-- parameters:
--   amount: amount in its currency
--   source: ISO 4217 code of its currency
--   of_year: fiscal year of the amount
--   target: ISO 4217 code of the result
-- rule: value × units of the target for a dollar / units of the currency for a dollar, by rates_by_year; in its own currency an amount stays as it is; NULL where a currency has no rates.
-- example: SELECT convert_currency(100, 'SEK', 2020, 'EUR')
CREATE OR REPLACE MACRO convert_currency(amount, source, of_year, target) AS
CASE WHEN source = target THEN amount::DOUBLE ELSE amount * (
  SELECT t.units_per_usd / s.units_per_usd
  FROM rates_by_year AS s JOIN rates_by_year AS t ON t.fiscal_year = s.fiscal_year AND t.currency = target
  WHERE s.currency = source AND s.fiscal_year = least(greatest(of_year, 1900), 2100)
) END;

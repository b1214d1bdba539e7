-- The rate that converts figures of a fiscal year, for each currency and each year from 1900 to 2100.
-- group: money
-- columns:
--   currency: ISO 4217 code
--   fiscal_year: fiscal year
--   units_per_usd: units of the currency for one US dollar
-- rule: The rate of the last year that is not after the fiscal year; before a currency's first year, that of the first.
-- example: FROM rates_by_year WHERE currency = 'EUR' AND fiscal_year = 1995
CREATE OR REPLACE VIEW rates_by_year AS
SELECT c.currency, y.fiscal_year,
  coalesce(
    last_value(r.units_per_usd IGNORE NULLS) OVER (PARTITION BY c.currency ORDER BY y.fiscal_year),
    first_value(r.units_per_usd IGNORE NULLS) OVER (
      PARTITION BY c.currency ORDER BY y.fiscal_year ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ) AS units_per_usd
FROM (SELECT DISTINCT currency FROM rates) AS c
CROSS JOIN (SELECT unnest(range(1900, 2101))::SMALLINT AS fiscal_year) AS y
LEFT JOIN rates AS r ON r.currency = c.currency AND r.year = y.fiscal_year;

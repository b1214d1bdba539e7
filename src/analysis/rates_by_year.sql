-- The rate that converts figures of a fiscal year, for each currency and each year from 1900 to 2100.
-- group: money
-- columns:
--   currency: ISO 4217 code
--   fiscal_year: fiscal year
--   units_per_usd: units of the currency for one US dollar
--   rate_year: year of that rate
-- rule: The rate of the last year that is not after the fiscal year; before a currency's first year, that of the first.
-- example: FROM rates_by_year WHERE currency = 'EUR' AND fiscal_year = 1995
CREATE OR REPLACE VIEW rates_by_year AS
SELECT currency, fiscal_year, rate.units_per_usd AS units_per_usd, rate.year AS rate_year FROM (
  SELECT c.currency, y.fiscal_year,
    coalesce(
      last_value(r.rate IGNORE NULLS) OVER (PARTITION BY c.currency ORDER BY y.fiscal_year),
      first_value(r.rate IGNORE NULLS) OVER (
        PARTITION BY c.currency ORDER BY y.fiscal_year ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) AS rate
  FROM (SELECT DISTINCT currency FROM rates) AS c
  CROSS JOIN (SELECT unnest(range(1900, 2101))::SMALLINT AS fiscal_year) AS y
  LEFT JOIN (SELECT currency, year, {'units_per_usd': units_per_usd, 'year': year} AS rate FROM rates) AS r
    ON r.currency = c.currency AND r.year = y.fiscal_year
);

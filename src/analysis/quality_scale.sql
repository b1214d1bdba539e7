-- Amounts about 1,000 or 1,000,000 times those of the years before and after: a wrong scale.
-- group: quality
-- columns:
--   severity: error; note for amounts other than sales and total assets that are too small, for the newest and the first year, and for two years in a row
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: fiscal year
--   item: line item
--   value: what is reported
--   expected: geometric mean of both neighbours; the one that differs where there is one
-- rule: Only with a figure of the year before and of the year after, in the same consolidation, currency and, where they are known, length, of the same sign and within a factor of 3 of each other; the figure 500 to 2,000 times, or 500,000 to 2,000,000 times, both of them, or the other way round. Amounts that are too small, other than sales and total assets, are a note: results and cash flows do come near to nothing. The newest year, the first one and two years in a row have one such neighbour each: they are a note, where 500 to 2,000 times hold for at least three line items at once.
-- found: of real data 0 errors and 1 notes in 8,103 amounts between two years; of generated data 0 errors and 45 notes in 2,709,192 amounts between two years
-- example: FROM quality_scale WHERE item = 'NetSales'
CREATE OR REPLACE VIEW quality_scale AS
WITH uneven AS (
  -- By a hash and by powers of two, which take the least memory: of all series only few are put in order. The figures are named
  -- twice, because DuckDB keeps in memory what is named once and read twice.
  SELECT series FROM (
    SELECT hash(internal_id, consolidation, line_item) AS series, try_cast(floor(log2(abs(value))) AS SMALLINT) AS power
    FROM financials SEMI JOIN (FROM line_items WHERE unit = 'amount') AS amounts USING (category, line_item) WHERE value <> 0
  ) GROUP BY series HAVING max(power) - min(power) >= 8
), ordered AS (
  SELECT *, lag(value) OVER years AS before, lag(fiscal_year) OVER years AS year_before, lag(currency) OVER years AS currency_before, lag(months) OVER years AS months_before,
    lead(value) OVER years AS after, lead(fiscal_year) OVER years AS year_after, lead(currency) OVER years AS currency_after, lead(months) OVER years AS months_after,
    value / lag(value, 3) OVER years AS times_third_before, value / lead(value, 3) OVER years AS times_third_after,
    CASE WHEN lag(fiscal_year, 2) OVER years = fiscal_year - 2 THEN value / lag(value, 2) OVER years END AS times_second_before,
    CASE WHEN lead(fiscal_year, 2) OVER years = fiscal_year + 2 THEN value / lead(value, 2) OVER years END AS times_second_after
  FROM financials SEMI JOIN (FROM line_items WHERE unit = 'amount') AS amounts USING (category, line_item)
  WHERE value <> 0 AND hash(internal_id, consolidation, line_item) IN (FROM uneven)
  WINDOW years AS (PARTITION BY internal_id, consolidation, line_item ORDER BY fiscal_year)
), compared AS (
  -- Times a neighbour; NULL where both do not compare.
  SELECT *, CASE WHEN year_before = fiscal_year - 1 AND currency IS NOT DISTINCT FROM currency_before AND coalesce(months = months_before, true)
      AND value / before > 0 THEN value / before END AS times_before,
    CASE WHEN year_after = fiscal_year + 1 AND currency IS NOT DISTINCT FROM currency_after AND coalesce(months = months_after, true)
      AND value / after > 0 THEN value / after END AS times_after
  FROM ordered
), sized AS (
  SELECT *, abs(log10(times_before)) AS up, abs(log10(times_after)) AS down,
    coalesce(abs(log10(times_before)) BETWEEN log10(500) AND log10(2000), false) AS is_step_before,
    coalesce(abs(log10(times_after)) BETWEEN log10(500) AND log10(2000), false) AS is_step_after
  FROM compared
), found AS (
  SELECT *, CASE
      WHEN greatest(before / after, after / before) <= 3
        AND (is_step_before AND is_step_after OR up BETWEEN log10(500000) AND log10(2000000) AND down BETWEEN log10(500000) AND log10(2000000)) THEN 'one year'
      -- Where the third one is like it again, two years between both are wrong.
      WHEN is_step_before AND year_after IS NULL AND coalesce(times_third_before NOT BETWEEN 1 / 3 AND 3, true) THEN 'newest year'
      WHEN is_step_after AND year_before IS NULL AND coalesce(times_third_after NOT BETWEEN 1 / 3 AND 3, true) THEN 'first year'
      WHEN is_step_before AND down <= log10(3) AND times_second_after > 0 AND abs(log10(times_second_after)) BETWEEN log10(500) AND log10(2000)
        AND (times_before > 1) = (times_second_after > 1) THEN 'first of two years'
      WHEN is_step_after AND up <= log10(3) AND times_second_before > 0 AND abs(log10(times_second_before)) BETWEEN log10(500) AND log10(2000)
        AND (times_after > 1) = (times_second_before > 1) THEN 'second of two years'
    END AS place
  FROM sized
)
SELECT CASE WHEN place = 'one year' AND (abs(c.value) > abs(before) OR c.line_item IN ('NetSales', 'TotalRevenue', 'TotalAssets')) THEN 'error' ELSE 'note' END AS severity,
  c.internal_id, n.company_name, c.country_code, c.fiscal_year, c.line_item AS item, c.value,
  CASE WHEN place = 'one year' THEN sign(c.value) * sqrt(abs(before) * abs(after)) WHEN is_step_before THEN before ELSE after END AS expected
FROM found AS c LEFT JOIN company_names AS n ON n.internal_id = c.internal_id
WHERE place IS NOT NULL
QUALIFY place = 'one year' OR count(*) OVER (PARTITION BY c.internal_id, c.consolidation, c.fiscal_year, place, (CASE WHEN is_step_before THEN times_before ELSE times_after END) > 1) >= 3;

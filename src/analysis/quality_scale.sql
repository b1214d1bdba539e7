-- Amounts about 1,000 or 1,000,000 times those of the years before and after: a wrong scale.
-- group: quality
-- columns:
--   severity: error; note for amounts other than sales and total assets that are too small
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: fiscal year
--   item: line item
--   value: what is reported
--   expected: geometric mean of both neighbours
-- rule: Only with a figure of the year before and of the year after, in the same consolidation, currency and, where they are known, length, of the same sign and within a factor of 3 of each other; the figure 500 to 2,000 times, or 500,000 to 2,000,000 times, both of them, or the other way round. Amounts that are too small, other than sales and total assets, are a note: results and cash flows do come near to nothing.
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
), neighbours AS (
  SELECT *, lag(value) OVER years AS before, lag(fiscal_year) OVER years AS year_before, lag(currency) OVER years AS currency_before, lag(months) OVER years AS months_before,
    lead(value) OVER years AS after, lead(fiscal_year) OVER years AS year_after, lead(currency) OVER years AS currency_after, lead(months) OVER years AS months_after
  FROM financials SEMI JOIN (FROM line_items WHERE unit = 'amount') AS amounts USING (category, line_item)
  WHERE value <> 0 AND hash(internal_id, consolidation, line_item) IN (FROM uneven)
  WINDOW years AS (PARTITION BY internal_id, consolidation, line_item ORDER BY fiscal_year)
), compared AS (
  SELECT *, abs(log10(value / before)) AS up, abs(log10(value / after)) AS down, sign(value) * sqrt(abs(before) * abs(after)) AS expected
  FROM neighbours
  WHERE year_before = fiscal_year - 1 AND year_after = fiscal_year + 1
    AND currency IS NOT DISTINCT FROM currency_before AND currency IS NOT DISTINCT FROM currency_after
    AND coalesce(months = months_before, true) AND coalesce(months = months_after, true)
    AND sign(value) = sign(before) AND sign(value) = sign(after)
    AND greatest(before / after, after / before) <= 3
)
SELECT CASE WHEN abs(c.value) > abs(c.expected) OR c.line_item IN ('NetSales', 'TotalRevenue', 'TotalAssets') THEN 'error' ELSE 'note' END AS severity,
  c.internal_id, n.company_name, c.country_code, c.fiscal_year, c.line_item AS item, c.value, c.expected
FROM compared AS c LEFT JOIN company_names AS n ON n.internal_id = c.internal_id
WHERE (c.up BETWEEN log10(500) AND log10(2000) AND c.down BETWEEN log10(500) AND log10(2000))
  OR (c.up BETWEEN log10(500000) AND log10(2000000) AND c.down BETWEEN log10(500000) AND log10(2000000));

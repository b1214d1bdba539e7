-- Companies that are most like one company.
-- group: companies
-- parameters:
--   id: internal_id of the company
--   n: most companies to give
-- columns:
--   rank: 1 is the nearest
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   division: division of its main industry
--   net_sales_eur: latest net sales in EUR
--   times_the_size: net sales as a multiple of those of the company, for as many months where both lengths are known
--   same_country: whether it is in the company's country
--   months: length of the year of the net sales, NULL where nothing states it
-- rule: Candidates have the same division of their main industry and net sales above 0. Nearest is who has the least |ln(times_the_size)|, plus 1 in another country; then by internal_id. Net sales are the latest ones of figures, in EUR at the rate of their year.
-- example: FROM peers(1001, 10)
CREATE OR REPLACE MACRO peers(id, n) AS TABLE
WITH sized AS (
  SELECT l.internal_id, l.company_name, l.country_code, i.division,
    CASE WHEN l.currency = 'EUR' THEN l.value ELSE l.value * (t.units_per_usd / s.units_per_usd) END AS net_sales_eur, l.months
  FROM (
    FROM figures WHERE category = 'ProfitAndLoss' AND line_item = 'NetSales'
    QUALIFY row_number() OVER (PARTITION BY internal_id ORDER BY fiscal_year DESC) = 1
  ) AS l
  JOIN company_industries AS i ON i.internal_id = l.internal_id AND i.position = 1 AND NOT i.is_group
  LEFT JOIN rates_by_year AS s ON s.currency = l.currency AND s.fiscal_year = l.fiscal_year
  LEFT JOIN rates_by_year AS t ON t.currency = 'EUR' AND t.fiscal_year = l.fiscal_year
  WHERE l.value > 0
), near AS (
  SELECT p.*, p.net_sales_eur / o.net_sales_eur * coalesce(o.months / p.months, 1) AS times_the_size,
    p.country_code IS NOT DISTINCT FROM o.country_code AS same_country
  FROM sized AS p JOIN sized AS o ON o.internal_id = id AND p.division = o.division AND p.internal_id <> o.internal_id
  WHERE p.net_sales_eur > 0 AND o.net_sales_eur > 0
)
SELECT row_number() OVER (ORDER BY abs(ln(times_the_size)) + CASE WHEN same_country THEN 0 ELSE 1 END, internal_id) AS rank,
  internal_id, company_name, country_code, division, net_sales_eur, times_the_size, same_country, months
FROM near QUALIFY rank <= n ORDER BY rank;

-- How many companies of a country report a line item in a year.
-- group: figures
-- columns:
--   country_code: country
--   fiscal_year: fiscal year
--   category: category of the line item
--   line_item: line item
--   companies: companies with a figure
--   share: these as a share of the companies of the country with any figure of that year
-- rule: A company counts once, whether it reports consolidated, unconsolidated or both.
-- example: FROM coverage WHERE country_code = 'SE' AND line_item = 'EBITDA' ORDER BY fiscal_year
CREATE OR REPLACE VIEW coverage AS
WITH reporting AS (
  SELECT country_code, fiscal_year, count(DISTINCT internal_id) AS companies FROM financials GROUP BY ALL
), items AS (
  SELECT country_code, fiscal_year, category, line_item, count(DISTINCT internal_id) AS companies FROM financials GROUP BY ALL
)
SELECT i.country_code, i.fiscal_year, i.category, i.line_item, i.companies, i.companies / r.companies AS share
FROM items AS i
JOIN reporting AS r ON r.fiscal_year = i.fiscal_year AND r.country_code IS NOT DISTINCT FROM i.country_code;

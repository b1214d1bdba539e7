-- The latest figure of each company and line item.
-- group: figures
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   category: category of the line item
--   line_item: line item
--   consolidation: Consolidated, or Unconsolidated where there is no consolidated figure of that year
--   fiscal_year: fiscal year of the figure
--   value: the figure, in the unit of its line item
--   currency: currency of amounts and per-share figures
-- rule: The figure of the latest fiscal year that has one; of that year the consolidated figure, else the unconsolidated one. The server compares filters without a year with the same figure.
-- example: FROM latest_figures WHERE line_item = 'NetSales' AND country_code = 'SE'
CREATE OR REPLACE VIEW latest_figures AS
SELECT f.internal_id, n.company_name, f.* EXCLUDE (internal_id) FROM (
  SELECT internal_id, country_code, category, line_item,
    CASE max(rank) & 1 WHEN 1 THEN 'Consolidated' ELSE 'Unconsolidated' END AS consolidation,
    (max(rank) >> 1)::SMALLINT AS fiscal_year, arg_max(value, rank) AS value, arg_max(currency, rank) AS currency
  FROM (
    SELECT *, 2 * fiscal_year::INTEGER + CASE consolidation WHEN 'Consolidated' THEN 1 ELSE 0 END AS rank FROM financials
  )
  GROUP BY internal_id, country_code, category, line_item
) AS f LEFT JOIN company_names AS n ON n.internal_id = f.internal_id;

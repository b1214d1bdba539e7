-- The statements that companies report: one row a company, fiscal year and consolidation.
-- group: figures
-- also: PostgreSQL
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: fiscal year
--   consolidation: Consolidated (the group) or Unconsolidated (the company alone); many companies report both, which do not add up
--   currency: currency of its amounts and per-share figures; several do not add up
--   months: length of the fiscal year, NULL where nothing states it
--   figures: number of its figures; the month in which a year ends and its length describe a statement and are none
--   is_preferred: whether it is the one statement that counts for the company and year
-- rule: Preferred is the consolidated statement if it has any figure of an income statement or a balance sheet, else the unconsolidated one. The length is the FiscalYearLength of the statement, else that of the other consolidation of the year, else for the last fiscal year that of companies.
-- example: SELECT fiscal_year, count(*) FROM statements WHERE is_preferred GROUP BY ALL ORDER BY ALL
CREATE OR REPLACE VIEW statements AS
SELECT s.internal_id, n.company_name, s.country_code, s.fiscal_year, s.consolidation, s.currency, s.months, s.figures, s.is_preferred FROM (
  SELECT internal_id, country_code, fiscal_year, consolidation, max(currency) AS currency, max(months) AS months,
    count(*) FILTER (WHERE line_item NOT IN ('FiscalYearEndMonth', 'FiscalYearLength') OR category <> 'OtherFinancialItems') AS figures,
    bool_or(is_preferred) AS is_preferred
  FROM financials GROUP BY internal_id, country_code, fiscal_year, consolidation
) AS s LEFT JOIN company_names AS n ON n.internal_id = s.internal_id;

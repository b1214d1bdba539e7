-- The name and the country of each company, one row a company.
-- group: companies
-- also: PostgreSQL
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
-- rule: Other views take the names from here. It is grouped although companies has one row a company, so that DuckDB from 2.0 on leaves the join out of statements that do not name the company.
-- example: SELECT company_name, value FROM financials JOIN company_names USING (internal_id) WHERE line_item = 'NetSales' AND fiscal_year = 2023
CREATE OR REPLACE VIEW company_names AS
SELECT internal_id, min(company_name) AS company_name, min(country_code) AS country_code
FROM companies GROUP BY internal_id;

-- The main industry of each company, one row a company that has one.
-- group: companies
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   type: classification
--   code: code as reported
--   text: description as reported
--   section: letter of the NACE section, A to U
--   division: first two digits
-- rule: Of company_industries the first code of the company itself.
-- example: SELECT section, median(growth) FROM growth('NetSales') JOIN company_sector USING (internal_id) WHERE fiscal_year = 2023 GROUP BY ALL
CREATE OR REPLACE VIEW company_sector AS
SELECT internal_id, company_name, country_code, type, code, text, section, division
FROM company_industries WHERE position = 1 AND NOT is_group;

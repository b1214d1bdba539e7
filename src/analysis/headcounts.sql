-- Headcount of each company and fiscal year, in whole persons.
-- group: figures
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: Consolidated or Unconsolidated; many companies report both, which do not add up
--   fiscal_year: fiscal year
--   employees: headcount, rounded to whole persons
--   employees_exact: headcount as reported where it has a fraction, else NULL
-- rule: Of employees, which has the headcount as reported, as DOUBLE.
-- example: SELECT fiscal_year, sum(employees) FROM headcounts WHERE country_code = 'SE' AND consolidation = 'Consolidated' GROUP BY ALL
CREATE OR REPLACE VIEW headcounts AS
SELECT e.internal_id, n.company_name, e.country_code, e.consolidation, e.fiscal_year,
  try_cast(round(e.employees) AS BIGINT) AS employees,
  CASE WHEN e.employees <> round(e.employees) THEN e.employees END AS employees_exact
FROM employees AS e LEFT JOIN company_names AS n ON n.internal_id = e.internal_id;

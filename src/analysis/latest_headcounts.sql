-- The latest headcount of each company, one row a company.
-- group: figures
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   consolidation: consolidation of the headcount that counts
--   fiscal_year: fiscal year
--   employees: headcount, rounded to whole persons
--   employees_exact: headcount as reported where it has a fraction, else NULL
-- rule: Of headcounts that of the latest year; of both consolidations that of the preferred statement, where it has none the other one.
-- example: SELECT country_code, sum(employees) FROM latest_headcounts GROUP BY ALL
CREATE OR REPLACE VIEW latest_headcounts AS
SELECT h.* FROM headcounts AS h JOIN (
  SELECT internal_id, unnest(arg_max({'consolidation': consolidation, 'fiscal_year': fiscal_year}, fiscal_year))
  FROM employees WHERE is_preferred GROUP BY internal_id
) AS l ON l.internal_id = h.internal_id AND l.consolidation = h.consolidation AND l.fiscal_year = h.fiscal_year;

-- What is probably wrong in the data, by all rules.
-- group: quality
-- columns:
--   rule: the rule: the view quality_<rule> has its findings alone
--   severity: error, or note where sound data breaks the rule too
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   fiscal_year: fiscal year, or NULL
--   item: line item, or what is wrong
--   value: what is reported
--   expected: what the rule expects
-- rule: Of the current versions. What sound filings break in more than one of 200 places is a note.
-- example: SELECT rule, severity, count(*) FROM quality_findings GROUP BY ALL ORDER BY ALL
CREATE OR REPLACE VIEW quality_findings AS
SELECT 'balance' AS rule, * FROM quality_balance
UNION ALL SELECT 'currency', * FROM quality_currency
UNION ALL SELECT 'cycles', * FROM quality_cycles
UNION ALL SELECT 'duplicates', * FROM quality_duplicates
UNION ALL SELECT 'future', * FROM quality_future
UNION ALL SELECT 'gaps', * FROM quality_gaps
UNION ALL SELECT 'scale', * FROM quality_scale
UNION ALL SELECT 'stakes', * FROM quality_stakes;

-- What is probably wrong in the data, by all rules.
-- group: quality
-- columns:
--   rule: the rule: the view quality_<rule> has its findings alone
--   severity: error, or note where real data breaks the rule too
--   internal_id: company
--   fiscal_year: fiscal year, or NULL
--   item: line item, or what is wrong
--   value: what is reported
--   expected: what the rule expects
-- rule: Of the current versions. Rules with more than 0.5 % of false positives on real filings are notes.
-- example: SELECT rule, severity, count(*) FROM quality_findings GROUP BY ALL ORDER BY ALL
CREATE OR REPLACE VIEW quality_findings AS
SELECT 'balance' AS rule, 'note' AS severity, * FROM quality_balance
UNION ALL SELECT 'currency', 'note', * FROM quality_currency
UNION ALL SELECT 'duplicates', 'error', * FROM quality_duplicates
UNION ALL SELECT 'future', 'error', * FROM quality_future
UNION ALL SELECT 'gaps', 'note', * FROM quality_gaps
UNION ALL SELECT 'scale', 'error', * FROM quality_scale;

-- Balance sheets that do not add up: total assets against current and non-current assets.
-- group: quality
-- columns:
--   internal_id: company
--   fiscal_year: fiscal year
--   item: the total
--   value: what is reported
--   expected: current and non-current assets together
-- rule: Only where all three are reported, in the same consolidation, year and currency; a difference of more than 1 % of the total. Severity: note, as on real filings more than 0.5 % of the totals differ.
-- example: FROM quality_balance ORDER BY abs(value - expected) DESC
CREATE OR REPLACE VIEW quality_balance AS
SELECT t.internal_id, t.fiscal_year, t.line_item AS item, t.value, c.value + n.value AS expected
FROM financials AS t
JOIN financials AS c USING (internal_id, consolidation, fiscal_year)
JOIN financials AS n USING (internal_id, consolidation, fiscal_year)
WHERE t.line_item = 'TotalAssets' AND c.line_item = 'TotalCurrentAssets' AND n.line_item = 'TotalNonCurrentAssets'
  AND t.currency IS NOT DISTINCT FROM c.currency AND t.currency IS NOT DISTINCT FROM n.currency
  AND abs(t.value - c.value - n.value) > 0.01 * greatest(abs(t.value), abs(c.value + n.value));

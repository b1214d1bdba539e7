-- Years in which a company reports in another currency than in the year before.
-- group: quality
-- columns:
--   internal_id: company
--   fiscal_year: the later year
--   item: consolidation and both currencies
--   value: NULL
--   expected: NULL
-- rule: By total assets, in the same consolidation. Severity: note, companies do change their currency.
-- example: FROM quality_currency ORDER BY fiscal_year
CREATE OR REPLACE VIEW quality_currency AS
SELECT n.internal_id, n.fiscal_year, concat(n.consolidation, ': ', o.currency, ' to ', n.currency) AS item,
  NULL::DOUBLE AS value, NULL::DOUBLE AS expected
FROM financials AS n
JOIN financials AS o ON o.internal_id = n.internal_id AND o.consolidation = n.consolidation AND o.line_item = n.line_item
  AND o.fiscal_year = n.fiscal_year - 1
WHERE n.line_item = 'TotalAssets' AND n.currency <> o.currency;

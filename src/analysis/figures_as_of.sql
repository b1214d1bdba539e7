-- The figures that count, as the service had said by an instant, with all that this lake knows now: one a company, fiscal year and line item.
-- group: figures
-- parameters:
--   instant: a day, which means its end in UTC, or a time; see instant_of
-- columns:
--   internal_id: company
--   company_name: name of the company then
--   country_code: country of the company
--   fiscal_year: fiscal year
--   category: category of the line item
--   line_item: line item, such as NetSales
--   value: the figure then, in the unit of its line item; do not add several currencies
--   currency: currency of amounts and per-share figures then, as reported; several do not add up
--   consolidation: consolidation of the statement that was preferred then
--   months: length of the fiscal year, NULL where nothing states it; figures of other lengths do not compare
-- rule: By as_of: a file that was loaded later than the instant counts, if the service had made it by then. Companies that it no longer listed are left out. It begins at the first delivery: whatever that has is as of one instant.
-- example: SELECT sum(value) FROM figures_as_of('2026-03-31') WHERE line_item = 'NetSales' AND fiscal_year = 2023 AND currency = 'SEK'
CREATE OR REPLACE MACRO figures_as_of(instant) AS TABLE
SELECT h.internal_id, n.company_name, h.country_code, h.fiscal_year, h.category, h.line_item, h.value, h.currency, h.consolidation, h.months
FROM financials_history AS h
LEFT JOIN (
  SELECT internal_id, min(company_name) AS company_name FROM companies_history
  WHERE as_of <= instant_of(instant) AND (until_as_of IS NULL OR until_as_of > instant_of(instant))
  GROUP BY internal_id
) AS n ON n.internal_id = h.internal_id
WHERE h.is_preferred AND h.as_of <= instant_of(instant) AND (h.until_as_of IS NULL OR h.until_as_of > instant_of(instant));

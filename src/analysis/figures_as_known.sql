-- The figures that count, as this lake showed them at an instant: one a company, fiscal year and line item.
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
-- rule: Of what was committed by then, the version that the service had said last: a file that came later is not seen, however old it is.
-- example: SELECT sum(value) FROM figures_as_known('2026-03-31') WHERE line_item = 'NetSales' AND fiscal_year = 2023 AND currency = 'SEK'
CREATE OR REPLACE MACRO figures_as_known(instant) AS TABLE
SELECT h.internal_id, n.company_name, h.country_code, h.fiscal_year, h.category, h.line_item, h.value, h.currency, h.consolidation, h.months
FROM financials_history AS h
LEFT JOIN (
  SELECT internal_id, min(company_name) AS company_name FROM companies_history
  WHERE shown_from <= instant_of(instant) AND (shown_until IS NULL OR shown_until > instant_of(instant))
  GROUP BY internal_id
) AS n ON n.internal_id = h.internal_id
WHERE h.is_preferred AND h.shown_from <= instant_of(instant) AND (h.shown_until IS NULL OR h.shown_until > instant_of(instant));

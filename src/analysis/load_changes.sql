-- What each load brought: a row a run that loaded companies. The five parts add up to the companies.
-- group: lake
-- columns:
--   run: run
--   snapshot: first snapshot that shows it
--   loaded_at: when that was committed
--   companies: companies that it holds
--   added: of these the ones that no load had before
--   restated: ones that came again with another value or currency of a figure
--   changed: ones that came again with other data or further or fewer figures, none restated
--   unchanged: ones that came again as they were
--   older: ones of which the lake had newer data already: what came is history
-- rule: Counts load_companies, where the rule stands: a company that two loads of a night bring counts in both.
-- example: FROM load_changes ORDER BY run DESC LIMIT 5
CREATE OR REPLACE VIEW load_changes AS
SELECT run, snapshot, loaded_at, count(*) AS companies, count(*) FILTER (change = 'added') AS added,
  count(*) FILTER (change = 'restated') AS restated, count(*) FILTER (change = 'changed') AS changed,
  count(*) FILTER (change = 'unchanged') AS unchanged, count(*) FILTER (change = 'older') AS older
FROM load_companies GROUP BY ALL;

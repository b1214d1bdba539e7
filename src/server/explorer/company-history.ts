/**
 * The history of one company's figures, by the rule of the view `restatements`, which has to look at all companies: here the rows of
 * one are read once.
 */

import { versionOrder } from '../../lake/views/version-order.ts'

/**
 * Common table expressions: `reported`, its figures in all versions; `own`, its versions; `steps`, each figure with the version that
 * came `next`, also past a time in which the company was not listed; `restated`, figures against those before.
 */
export const historyOf = (id: number | string): string => `reported AS MATERIALIZED (
  SELECT consolidation, category, line_item, fiscal_year, value, currency, as_of, version, until, until_as_of, shown_until, snapshot, loaded_at
  FROM financials_history WHERE internal_id = ${id}
), own AS MATERIALIZED (
  SELECT as_of, version, until, until_as_of, snapshot, loaded_at, lead(version) OVER in_order AS "next", lag(version) OVER in_order AS before
  FROM companies_history WHERE internal_id = ${id} WINDOW in_order AS (ORDER BY ${versionOrder()})
), steps AS (
  SELECT r.*, coalesce(a."next", r.until) AS "next" FROM reported AS r LEFT JOIN own AS a ON a.until = r.until AND a.until_as_of = r.until_as_of AND a.until <> a."next"
), restated AS (
  SELECT n.*, o.value AS old_value, o.currency AS old_currency
  FROM steps AS o JOIN reported AS n ON n.version = o."next"
    AND n.consolidation = o.consolidation AND n.category = o.category AND n.line_item = o.line_item AND n.fiscal_year = o.fiscal_year
  WHERE n.value <> o.value OR n.currency IS DISTINCT FROM o.currency
)`

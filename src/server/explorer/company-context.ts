/** Questions that a company's page asks after its figures: its peers, what loads changed, and what is probably wrong. */

import { definitionsFor } from '../../analysis/definitions.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { versionOrder } from '../../lake/views/version-order.ts'
import { objectOf } from '../../support/json-form.ts'
import { COMPANY_LIST } from './company-list.ts'
import { companyId, type Question, question } from './question.ts'

const COMPANY = objectOf({ id: companyId })

const MOST_PEERS = 10
/** Rows of changes and of findings. */
const MOST_ROWS = 200

/**
 * The company (rank 0) and its nearest by the rule of the macro `peers`, which would read the figures of all companies. Growth and
 * margin are those of the year of the sales.
 */
const peers = question(
  COMPANY,
  (run, { id }) =>
    run(`WITH listed AS (
  SELECT *, nullif(regexp_extract(trim(industry_code), '^[0-9]{2}'), '') AS division FROM ${COMPANY_LIST}
), sized AS (
  SELECT l.internal_id, l.company_name, l.country_code, l.division, l.fiscal_year, l.months, l.growth, l.growth_reason, l.ebit_margin,
    CASE WHEN l.currency = 'EUR' THEN l.net_sales ELSE l.net_sales * (t.units_per_usd / s.units_per_usd) END AS net_sales_eur
  FROM listed AS l
  LEFT JOIN rates_by_year AS s ON s.currency = l.currency AND s.fiscal_year = l.fiscal_year
  LEFT JOIN rates_by_year AS t ON t.currency = 'EUR' AND t.fiscal_year = l.fiscal_year
  WHERE l.net_sales > 0 AND l.division = (SELECT division FROM listed WHERE internal_id = ${id})
), compared AS (
  SELECT *, net_sales_eur / max(net_sales_eur) FILTER (internal_id = ${id}) OVER ()
      * coalesce(max(months) FILTER (internal_id = ${id}) OVER () / months, 1) AS times_the_size,
    country_code IS NOT DISTINCT FROM max(country_code) FILTER (internal_id = ${id}) OVER () AS same_country
  FROM sized WHERE net_sales_eur > 0
), ranked AS (
  SELECT *, row_number() OVER (ORDER BY internal_id <> ${id},
    abs(ln(times_the_size)) + CASE WHEN same_country THEN 0 ELSE 1 END, internal_id) - 1 AS rank
  FROM compared WHERE times_the_size IS NOT NULL
)
SELECT rank, internal_id, company_name, country_code, division, fiscal_year, net_sales_eur, growth, growth_reason, ebit_margin, months
FROM ranked WHERE rank <= ${MOST_PEERS} ORDER BY net_sales_eur DESC, rank`),
  { needsList: true },
)

/** Columns of a company that say when it was updated, which every load changes, and those that are for machines. */
const NOT_SHOWN = ['as_reported', 'extra', 'score', 'generated_at']

/**
 * Changes by each load that brought another version, the newest first: `first` and `figures` count what came in a year, `gone`
 * what is no more, `restated` has a figure before and after, `detail` a column of companies.
 */
const changes = question(COMPANY, (run, { id }) =>
  run(`WITH reported AS MATERIALIZED (
  SELECT consolidation, category, line_item, fiscal_year, value, currency, version FROM financials_history WHERE internal_id = ${id}
), versions AS MATERIALIZED (
  SELECT version, snapshot, loaded_at, row_number() OVER in_order AS place, lag(version) OVER in_order AS before FROM companies_history WHERE internal_id = ${id}
  WINDOW in_order AS (ORDER BY ${versionOrder()})
), named AS (
  SELECT r.*, coalesce(n.name, r.line_item) AS name FROM reported AS r
  LEFT JOIN line_item_names AS n ON n.category = r.category AND n.line_item = r.line_item
), came AS (
  SELECT v.version, r.fiscal_year, count(*) AS figures FROM versions AS v JOIN reported AS r ON r.version = v.version
  WHERE v.before IS NOT NULL AND NOT EXISTS (FROM reported AS o WHERE o.version = v.before AND o.consolidation = r.consolidation
    AND o.category = r.category AND o.line_item = r.line_item AND o.fiscal_year = r.fiscal_year)
  GROUP BY ALL
), gone AS (
  SELECT v.version, o.fiscal_year, count(*) AS figures FROM versions AS v JOIN reported AS o ON o.version = v.before
  WHERE NOT EXISTS (FROM reported AS r WHERE r.version = v.version AND o.consolidation = r.consolidation
    AND o.category = r.category AND o.line_item = r.line_item AND o.fiscal_year = r.fiscal_year)
  GROUP BY ALL
), found AS (
  SELECT version, 'first' AS kind, NULL AS item, NULL AS fiscal_year, NULL AS old_value,
    (SELECT count(*) FROM reported AS r WHERE r.version = v.version)::VARCHAR AS new_value, NULL AS currency
  FROM versions AS v WHERE before IS NULL
  UNION ALL SELECT version, 'figures', NULL, fiscal_year, NULL, figures::VARCHAR, NULL FROM came
  UNION ALL SELECT version, 'gone', NULL, fiscal_year, figures::VARCHAR, NULL, NULL FROM gone
  UNION ALL
  SELECT v.version, 'restated', concat_ws(', ', n.name, CASE n.consolidation WHEN 'Unconsolidated' THEN 'unconsolidated' END),
    n.fiscal_year, o.value::VARCHAR, n.value::VARCHAR, CASE WHEN o.currency IS DISTINCT FROM n.currency THEN concat(o.currency, ' to ', n.currency) ELSE n.currency END
  FROM versions AS v JOIN named AS n ON n.version = v.version
  JOIN reported AS o ON o.version = v.before
    AND o.consolidation = n.consolidation AND o.category = n.category AND o.line_item = n.line_item AND o.fiscal_year = n.fiscal_year
  WHERE n.value <> o.value OR n.currency IS DISTINCT FROM o.currency
  UNION ALL
  SELECT v.version, 'detail', c.column_name, NULL, c.old_value, c.new_value, NULL
  FROM company_changes AS c JOIN versions AS v ON v.snapshot = c.snapshot
  WHERE c.internal_id = ${id} AND NOT regexp_matches(c.column_name, '_updated_at$') AND c.column_name NOT IN (${NOT_SHOWN.map(literal).join(', ')})
)
SELECT v.snapshot, v.loaded_at, f.* EXCLUDE (version) FROM found AS f JOIN versions AS v ON v.version = f.version
ORDER BY v.place DESC, kind = 'first', kind = 'detail', kind, fiscal_year DESC, item LIMIT ${MOST_ROWS}`),
)

/** Rules that look at the company's own rows alone, and the views that these rows are in. */
const OWN_RULES = ['balance', 'currency', 'future', 'gaps', 'scale'] as const
const OWN_VIEWS = ['companies', 'companies_history', 'company_names', 'financials'] as const

/** The statement of a rule, whose names mean what stands around it: the rows of one company. */
const ruleText = (rule: string): string => {
  const sql = definitionsFor([`quality_${rule}`]).at(-1)?.sql ?? ''
  return `SELECT '${rule}' AS rule, * FROM (${sql.slice(sql.indexOf(' AS') + ' AS'.length)})`
}

/** `quality_findings` of one company. Circles, which are named after one company of many, are marked at its owners instead. */
const companyFindings = question(COMPANY, (run, { id }) => {
  const own = OWN_VIEWS.map((name) => `${name} AS (FROM main.${name} WHERE internal_id = ${id})`)
  const owners = `owners_current AS (FROM main.owners_current WHERE owned_id = ${id})`
  return run(`WITH ${[...own, owners].join(',\n')}
SELECT rule, severity, fiscal_year, item, round(value, 6) AS value, round(expected, 6) AS expected FROM (
  ${[...OWN_RULES, 'stakes'].map(ruleText).join('\n  UNION ALL ')}
  UNION ALL SELECT 'duplicates', * FROM main.quality_duplicates WHERE internal_id = ${id}
)
ORDER BY severity, rule, fiscal_year DESC, item, value LIMIT ${MOST_ROWS}`)
})

export const CONTEXT_QUESTIONS: Readonly<Record<string, Question>> = {
  peers,
  changes,
  'company-findings': companyFindings,
}

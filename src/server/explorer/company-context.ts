/** Questions that a company's page asks after its figures: its peers, what loads changed, and what is probably wrong. */

import { definitionsFor } from '../../analysis/definitions.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { objectOf } from '../../support/json-form.ts'
import { historyOf } from './company-history.ts'
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
  run(`WITH ${historyOf(id)}, came AS (
  SELECT as_of, snapshot, loaded_at, fiscal_year, count(*) AS figures FROM reported AS r
  WHERE version <> (SELECT version FROM own WHERE before IS NULL) AND NOT EXISTS (FROM steps AS o WHERE o."next" = r.version
    AND o.consolidation = r.consolidation AND o.category = r.category AND o.line_item = r.line_item AND o.fiscal_year = r.fiscal_year)
  GROUP BY ALL
), gone AS (
  SELECT coalesce(v.as_of, o.until_as_of) AS as_of, v.snapshot, coalesce(v.loaded_at, o.shown_until) AS loaded_at, o.fiscal_year, count(*) AS figures
  FROM steps AS o LEFT JOIN own AS v ON v.version = o."next"
  WHERE o."next" <> (SELECT coalesce(until, -1) FROM own WHERE "next" IS NULL) AND NOT EXISTS (FROM reported AS r WHERE r.version = o."next"
    AND r.consolidation = o.consolidation AND r.category = o.category AND r.line_item = o.line_item AND r.fiscal_year = o.fiscal_year)
  GROUP BY ALL
), found AS (
  SELECT as_of, snapshot, loaded_at, 'first' AS kind, NULL AS item, NULL AS fiscal_year, NULL AS old_value,
    (SELECT count(*) FROM reported AS r WHERE r.version = v.version)::VARCHAR AS new_value, NULL AS currency
  FROM own AS v WHERE before IS NULL
  UNION ALL SELECT as_of, snapshot, loaded_at, 'figures', NULL, fiscal_year, NULL, figures::VARCHAR, NULL FROM came
  UNION ALL SELECT as_of, snapshot, loaded_at, 'gone', NULL, fiscal_year, figures::VARCHAR, NULL, NULL FROM gone
  UNION ALL
  SELECT r.as_of, r.snapshot, r.loaded_at, 'restated',
    concat_ws(', ', coalesce(n.name, r.line_item), CASE r.consolidation WHEN 'Unconsolidated' THEN 'unconsolidated' END),
    r.fiscal_year, r.old_value::VARCHAR, r.value::VARCHAR,
    CASE WHEN r.old_currency IS DISTINCT FROM r.currency THEN concat(r.old_currency, ' to ', r.currency) ELSE r.currency END
  FROM restated AS r LEFT JOIN line_item_names AS n ON n.category = r.category AND n.line_item = r.line_item
  UNION ALL
  SELECT as_of, snapshot, loaded_at, 'detail', column_name, NULL, old_value, new_value, NULL FROM company_changes
  WHERE internal_id = ${id} AND NOT regexp_matches(column_name, '_updated_at$') AND column_name NOT IN (${NOT_SHOWN.map(literal).join(', ')})
)
SELECT snapshot, loaded_at, kind, item, fiscal_year, old_value, new_value, currency FROM found
ORDER BY as_of DESC, snapshot DESC, kind = 'first', kind = 'detail', kind, fiscal_year DESC, item LIMIT ${MOST_ROWS}`),
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

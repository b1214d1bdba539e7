/** Questions that a company's page asks after its figures: its peers, what loads changed, and what is probably wrong. */

import { objectOf } from '../../support/json-form.ts'
import { companyId, type Question, question, rowObjects } from './question.ts'

const COMPANY = objectOf({ id: companyId })

const MOST_PEERS = 10

/** The company (rank 0) and its `peers`, with sales in EUR, growth and margin by the rules of `growth` and `convert_currency`. */
const peers = question(COMPANY, async (run, { id }) => {
  const near = rowObjects(await run(`SELECT internal_id, rank FROM peers(${id}, ${MOST_PEERS})`))
  const ranks = [{ internal_id: id, rank: 0 }, ...near].map((one) => `(${one.internal_id}, ${one.rank})`)
  const ids = [id, ...near.map((one) => one.internal_id)].join(', ')
  return run(`WITH ranked(internal_id, rank) AS (VALUES ${ranks.join(', ')}),
sales AS (
  FROM latest_figures WHERE category = 'ProfitAndLoss' AND line_item = 'NetSales' AND internal_id IN (${ids})
), reported AS MATERIALIZED (
  SELECT internal_id, consolidation, line_item, fiscal_year, currency, value FROM financials
  WHERE category = 'ProfitAndLoss' AND line_item IN ('NetSales', 'EBIT') AND internal_id IN (${ids})
)
SELECT r.rank, s.internal_id, s.company_name, s.country_code, s.fiscal_year,
  convert_currency(s.value, s.currency, s.fiscal_year, 'EUR') AS net_sales_eur,
  (s.value - b.value) / nullif(abs(b.value), 0) AS growth, e.value / nullif(s.value, 0) AS ebit_margin
FROM ranked AS r JOIN sales AS s ON s.internal_id = r.internal_id
LEFT JOIN reported AS b ON b.internal_id = s.internal_id AND b.consolidation = s.consolidation AND b.line_item = 'NetSales'
  AND b.fiscal_year = s.fiscal_year - 1 AND b.currency IS NOT DISTINCT FROM s.currency
LEFT JOIN reported AS e ON e.internal_id = s.internal_id AND e.consolidation = s.consolidation AND e.line_item = 'EBIT'
  AND e.fiscal_year = s.fiscal_year AND e.currency IS NOT DISTINCT FROM s.currency
ORDER BY net_sales_eur DESC, r.rank`)
})

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

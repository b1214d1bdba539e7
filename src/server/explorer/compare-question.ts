/** Companies side by side: the figures that a comparison needs, of all years, beside their values in one currency. */

import { literal } from '../../lake/duckdb/sql.ts'
import { form, list, objectOf, optional, textLike } from '../../support/json-form.ts'
import { companyId, type Question, question } from './question.ts'

/** So many stand beside each other on a screen. */
export const MOST_COMPARED = 6

const ITEMS = [
  ...['NetSales', 'TotalRevenue', 'EBITDA', 'EBIT', 'NetProfit'],
  ...['TotalAssets', 'TotalEquity', 'ShareholderEquity'],
] as const

const someIds = list(companyId)
export const COMPARED = objectOf({
  ids: form((value): value is readonly (number | string)[] => {
    const ids = someIds(value, 'the body.ids')
    return ids.length > 0 && ids.length <= MOST_COMPARED
  }, `identifiers of one to ${MOST_COMPARED} companies`),
  currency: optional(textLike(/^[A-Z]{3}$/, 'the code of a currency')),
})

/**
 * Rows by company, in the order asked for; of one that has no such figure there is one row without a figure. Without a currency
 * it is the one that most of the companies report their newest figures in, of several that of the first company. Amounts are
 * converted by the average rate of the year.
 */
const compare = question(COMPARED, async (run, { ids, currency }) => {
  const asked = [...new Set(ids.map(String))]
  const among = `internal_id IN (${asked.join(', ')})`
  const target =
    currency === undefined
      ? `(SELECT currency FROM (
    SELECT internal_id, arg_max(currency, fiscal_year) AS currency FROM financials WHERE ${among} AND currency IS NOT NULL GROUP BY internal_id
  ) GROUP BY currency ORDER BY count(*) DESC, min(list_position([${asked.join(', ')}], internal_id)) LIMIT 1)`
      : literal(currency)
  return run(`WITH target AS MATERIALIZED (
  SELECT ${target} AS currency
), found AS (
  SELECT f.internal_id, f.consolidation, f.category, f.line_item, n.name, n.unit, f.fiscal_year,
    convert_currency(f.value, f.currency, f.fiscal_year, d.currency) AS value, d.currency,
    f.value AS reported_value, f.currency AS reported_currency, f.months, f.is_preferred
  FROM financials AS f CROSS JOIN target AS d
  LEFT JOIN line_item_names AS n ON n.category = f.category AND n.line_item = f.line_item
  WHERE f.${among} AND f.category IN ('ProfitAndLoss', 'BalanceSheet') AND f.line_item IN (${ITEMS.map(literal).join(', ')})
  UNION ALL
  SELECT internal_id, consolidation, 'Employees', 'Employees', 'Employees', 'count', fiscal_year, employees, NULL, employees, NULL, NULL, is_preferred
  FROM employees WHERE ${among}
)
SELECT c.internal_id, c.company_name, c.country_code, (SELECT currency FROM target) AS target, f.* EXCLUDE (internal_id)
FROM companies AS c LEFT JOIN found AS f ON f.internal_id = c.internal_id
WHERE c.${among}
ORDER BY list_position([${asked.join(', ')}], c.internal_id), f.line_item, f.category, f.consolidation, f.fiscal_year`)
})

export const COMPARE_QUESTIONS: Readonly<Record<string, Question>> = { compare }

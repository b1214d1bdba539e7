/** Business: what the companies sell, by country and year in one currency, and whose sales changed the most. */

import { drawMoves, itemAndYear } from '../draw/companies.ts'
import { heatMap } from '../draw/heat.ts'
import { type Html, html, untrustedText } from '../html.ts'
import { NBSP, type Numbers, scaled, scaleOf, unitOf } from '../numbers.ts'
import { TOP } from '../render-section.ts'
import { cellNumber, cellText, columnSum, type ReportRow } from '../rows.ts'
import type { ReportPage, RowsOf } from '../section.ts'
import { stackedBar } from '../svg.ts'
import { counted } from '../words.ts'

const YEARS = 7
/** Countries times years. */
const MOST = 2100
const LARGEST = 100
const COUNTRIES = 300

export const SALES_ID = 'sales'
export const SALES_CHANGES_ID = 'sales-changes'
export const NEWLY_RESTATED_ID = 'newly-restated'

/**
 * Common table expressions: `sales`, net sales that count, summed by country, year and currency; `unit`, the currency that most of them
 * are in; `newest`, the newest year that at least half as many companies report as the year that most do.
 */
const SALES = `sales AS (
  SELECT country_code, fiscal_year, currency, count(*) AS companies, sum(value) AS reported
  FROM figures WHERE line_item = 'NetSales' GROUP BY ALL
), unit AS (
  SELECT currency AS target FROM sales WHERE currency IS NOT NULL GROUP BY ALL ORDER BY sum(companies) DESC, currency LIMIT 1
), counts AS (
  SELECT fiscal_year, sum(companies) AS companies FROM sales GROUP BY ALL
), newest AS (
  SELECT max(fiscal_year) AS newest FROM counts WHERE 2 * companies >= (SELECT max(companies) FROM counts)
)`

const BY_COUNTRY = `WITH ${SALES}, converted AS (
  SELECT x.*, target, convert_currency(reported, x.currency, x.fiscal_year, target) AS amount
  FROM sales AS x CROSS JOIN unit CROSS JOIN newest
  WHERE x.fiscal_year <= newest AND x.fiscal_year > newest - ${YEARS}
), sizes AS (
  SELECT country_code, sum(amount) AS size FROM converted, newest WHERE fiscal_year = newest GROUP BY ALL
)
SELECT c.country_code, c.fiscal_year::VARCHAR AS years, target AS currency, round(sum(amount)) AS sales,
  coalesce(sum(companies) FILTER (amount IS NOT NULL), 0)::BIGINT AS companies,
  coalesce(sum(companies) FILTER (amount IS NULL), 0)::BIGINT AS left_out
FROM converted AS c LEFT JOIN sizes AS z ON z.country_code IS NOT DISTINCT FROM c.country_code
GROUP BY ALL ORDER BY any_value(size) DESC NULLS LAST, c.country_code, years DESC LIMIT ${MOST}`

/** Sales of the newest full year and of the one before, where both compare; both by the rate of the newer year. */
const COMPARED = `compared AS (
  SELECT g.*, target, convert_currency(g.value, g.currency, g.fiscal_year, target) AS now_in_unit,
    convert_currency(g.previous_value, g.currency, g.fiscal_year, target) AS before_in_unit
  FROM growth('NetSales') AS g JOIN newest ON g.fiscal_year = newest CROSS JOIN unit
  WHERE g.reason IS NULL
)`

const CHANGES = `WITH ${SALES}, ${COMPARED}
SELECT internal_id, company_name, country_code, consolidation, fiscal_year, previous_value AS old_value, value AS new_value,
  round(100 * growth, 2) AS percent, currency AS old_currency, currency, round(now_in_unit - before_in_unit) AS difference, target AS difference_currency
FROM compared ORDER BY abs(now_in_unit - before_in_unit) DESC NULLS LAST, internal_id LIMIT ${LARGEST}`

const GROWTH = `WITH ${SALES}, ${COMPARED}
SELECT country_code, fiscal_year, count(*) AS companies, target AS currency, round(sum(before_in_unit)) AS sales_before, round(sum(now_in_unit)) AS sales,
  round(100 * (sum(now_in_unit) / nullif(sum(before_in_unit), 0) - 1), 2) AS percent
FROM compared WHERE now_in_unit IS NOT NULL GROUP BY ALL ORDER BY sales DESC, country_code LIMIT ${COUNTRIES}`

const NEWLY_RESTATED = `WITH ${SALES}, newly AS (
  SELECT r.*, i.name, target, convert_currency(r.new_value - r.old_value, r.new_currency, r.fiscal_year, target) AS by
  FROM restatements AS r JOIN line_item_names AS i ON i.category = r.category AND i.line_item = r.line_item AND i.unit = 'amount'
  CROSS JOIN unit
  WHERE r.known_since = (SELECT max(loaded_at) FROM companies_history) AND r.old_currency IS NOT DISTINCT FROM r.new_currency
)
SELECT r.internal_id, r.company_name, r.country_code, r.consolidation, r.name AS item, r.fiscal_year, r.old_value, r.new_value,
  round(r.percent, 2) AS percent, r.old_currency, r.new_currency AS currency,
  round(r.by) AS difference, target AS difference_currency, r.known_since
FROM newly AS r
ORDER BY abs(difference) DESC NULLS LAST, r.internal_id, r.consolidation, r.line_item, r.fiscal_year LIMIT ${LARGEST}`

const lead = (rowsOf: RowsOf, numbers: Numbers): Html => {
  const rows = rowsOf(SALES_ID)
  if (rows.length === 0) return html``
  const years = rows.map((row) => cellNumber(row.years))
  const newest = Math.max(...years)
  const own = rows.filter((row) => cellNumber(row.years) === newest)
  const currency = cellText(rows[0]?.currency)
  const sales = columnSum(own, 'sales')
  const [factor, sign] = scaleOf([sales])
  const companies = columnSum(own, 'companies')
  const amount = [scaled(sales, factor, numbers), sign].filter(Boolean).join(NBSP)
  return html`${counted(companies, 'company', numbers.whole(companies))} sold for ${untrustedText(currency)} ${amount} in ${String(newest)}, the newest full year. A subsidiary that reports counts beside its group.`
}

/** Sales that are there are not shown as 0. */
const shownSales = (value: number, numbers: Numbers): string =>
  value > 0 && value < 0.005 ? '~0' : scaled(value, 1, numbers)

const drawSales = (rows: readonly ReportRow[], numbers: Numbers): Html => {
  const [factor, sign] = scaleOf(rows.map((row) => cellNumber(row.sales)))
  const unit = unitOf(cellText(rows[0]?.currency), sign)
  const shown = rows.filter((row) => row.sales !== null)
  const left = columnSum(rows, 'left_out')
  const without =
    left === 0 ? '' : `; ${counted(left, 'figure', numbers.whole(left))} in a currency without rates left out`
  return html`<p class="about">In ${unit}, the currency that most of them report in; others are converted by the average rate of each year${without}.</p>${heatMap(
    shown,
    {
      ...{ caption: `Net sales by country and fiscal year in ${unit}`, value: 'sales' },
      show: (sales) => shownSales(sales / factor, numbers),
    },
  )}`
}

const growthLine = (row: ReportRow, most: number, numbers: Numbers): Html => {
  const percent = cellNumber(row.percent)
  const companies = cellNumber(row.companies)
  return html`<tr><th scope="row">${untrustedText(cellText(row.country_code) || 'none')}<small>${counted(companies, 'company', numbers.whole(companies))}</small></th><td class="b">${stackedBar([{ value: Math.abs(percent), tone: percent < 0 ? 'fr' : 'f1' }], most)}</td><td class="n"><b>${numbers.signed(percent, 1)}${NBSP}%</b></td></tr>\n`
}

const drawGrowth = (rows: readonly ReportRow[], numbers: Numbers): Html => {
  const top = rows.slice(0, TOP)
  const most = Math.max(...top.map((row) => Math.abs(cellNumber(row.percent))))
  return html`<table class="bars"><caption class="vh">Growth of net sales by country</caption><tbody>
${top.map((row) => growthLine(row, most, numbers))}</tbody></table>`
}

export const business: ReportPage = {
  id: 'business',
  title: 'Business',
  none: 'No company reports net sales.',
  lead,
  sections: [
    {
      id: SALES_ID,
      title: 'Net sales by country',
      about: `Of the figures that count, by fiscal year; the ${YEARS} years up to the newest that at least half as many report as the year that most do.`,
      sql: BY_COUNTRY,
      most: MOST,
      span: 6,
      draw: (rows, { numbers }) => drawSales(rows, numbers),
      none: 'No company reports net sales.',
    },
    {
      id: SALES_CHANGES_ID,
      title: 'Largest changes of net sales',
      about:
        'Of the newest full year against the one before, by the amount in the one currency; of companies whose two years compare.',
      sql: CHANGES,
      most: LARGEST,
      span: 6,
      draw: (rows, around) =>
        drawMoves(
          rows,
          {
            caption: 'Largest changes of net sales',
            small: ({ country_code: country }) => cellText(country),
            tone: 'f1',
          },
          around,
        ),
      none: 'No company reports two years that compare.',
    },
    {
      id: NEWLY_RESTATED_ID,
      title: 'Largest restatements by the newest load',
      about: 'Amounts that the newest load of companies changed, by the difference in that currency.',
      sql: NEWLY_RESTATED,
      most: LARGEST,
      span: 6,
      isFolded: true,
      draw: (rows, around) =>
        drawMoves(
          rows,
          { caption: 'Largest restatements by the newest load', small: itemAndYear, tone: 'f2' },
          around,
        ),
      none: 'The newest load restated no amount.',
    },
    {
      id: 'sales-growth',
      title: 'Growth of net sales by country',
      about:
        'Of the companies whose sales of that year and the one before compare: like with like, both at the rate of the newer year.',
      sql: GROWTH,
      most: COUNTRIES,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) => drawGrowth(rows, numbers),
      none: 'No company reports two years that compare.',
    },
  ],
}

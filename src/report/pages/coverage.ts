/** Coverage: which countries report which line items in which years. */

import { topBars } from '../draw/bars.ts'
import { heatMap } from '../draw/heat.ts'
import { type Html, html } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { cellNumber, cellText, type ReportRow } from '../rows.ts'
import type { ReportPage, RowsOf, Section } from '../section.ts'
import { sqlText } from '../sql-text.ts'
import { itemWords } from '../words.ts'
import { NUMBERS_ID } from './overview.ts'

/** Countries times years. */
const MOST = 2400
/** The newest that many report; earlier ones are one column. */
const YEARS = 7
const ITEMS = 400
const GAPS = 200

/**
 * Companies with a figure of a year, the largest countries first. Years after the newest one that a twentieth of the companies of
 * the largest year report are one column, as are the earlier ones: a few wrong or early years do not push the others out of sight.
 *
 * @param of further columns of each company and year
 * @param columns of each field
 */
const byCountryAndYears = (of: string, columns: string): string => `WITH reports AS (
  SELECT country_code, internal_id, fiscal_year${of} FROM financials GROUP BY ALL
), counts AS (
  SELECT fiscal_year, count(*) AS companies FROM reports GROUP BY ALL
), newest AS (
  SELECT max(fiscal_year) AS until FROM counts WHERE 20 * companies >= (SELECT max(companies) FROM counts)
), shown AS (
  SELECT min(fiscal_year) AS since, any_value(until) AS until
  FROM (SELECT fiscal_year, until FROM counts JOIN newest ON fiscal_year <= until ORDER BY fiscal_year DESC LIMIT ${YEARS})
), sizes AS (
  SELECT country_code, count(DISTINCT internal_id) AS size FROM reports GROUP BY ALL
)
SELECT r.country_code,
  CASE WHEN fiscal_year > until THEN concat('≥ ', until + 1) WHEN fiscal_year < since THEN concat('≤ ', since - 1) ELSE fiscal_year::VARCHAR END AS years,
  ${columns}
FROM reports AS r CROSS JOIN shown JOIN sizes AS s ON s.country_code IS NOT DISTINCT FROM r.country_code
GROUP BY ALL ORDER BY any_value(size) DESC, r.country_code, min(fiscal_year) DESC LIMIT ${MOST}`

const itemSection = (item: string, at: number): Section => ({
  id: `item-${at}`,
  title: `${itemWords(item)} reported, %`,
  about: 'Of the companies with any figure in that year.',
  sql: byCountryAndYears(
    `, bool_or(line_item = ${sqlText(item)}) AS has_item`,
    'count(DISTINCT internal_id) FILTER (has_item) AS reporting, count(DISTINCT internal_id) AS companies, round(reporting / companies, 4) AS share',
  ),
  most: MOST,
  span: 6,
  isFolded: at > 0,
  draw: (rows, { numbers }) =>
    heatMap(rows, {
      ...{ caption: `Share of companies that report ${item}, in percent`, value: 'share', most: 1 },
      show: (share) => numbers.whole(100 * share),
    }),
  none: 'There are no figures.',
})

/** The newest year that at least half as many report as the year that most report. */
const newestFull = (rows: readonly ReportRow[]): readonly [year: string, companies: number] | undefined => {
  const years = [...Map.groupBy(rows, (row) => cellText(row.years))]
    .filter(([years]) => /^\d+$/.test(years))
    .map(([years, of]) => [years, of.reduce((sum, row) => sum + cellNumber(row.companies), 0)] as const)
    .sort(([a], [b]) => Number(b) - Number(a))
  const most = Math.max(...years.map(([, companies]) => companies))
  return years.find(([, companies]) => 2 * companies >= most)
}

const lead = (rowsOf: RowsOf, numbers: Numbers): Html => {
  const full = newestFull(rowsOf('reporting'))
  if (full === undefined) return html``
  const [year, companies] = full
  const all = cellNumber(rowsOf(NUMBERS_ID)[0]?.companies)
  const of = all > 0 ? ` of ${numbers.whole(all)}` : ''
  return html`${year} is the newest full year: ${numbers.whole(companies)}${of} companies. Largest countries first, newest years left.`
}

/** @param items line items with a heat map of their own */
export const coverage = (items: readonly string[]): ReportPage => ({
  id: 'coverage',
  title: 'Coverage',
  none: 'There are no figures.',
  lead,
  sections: [
    {
      id: 'reporting',
      title: 'Companies with any figure',
      about: 'By country and fiscal year.',
      sql: byCountryAndYears('', 'count(DISTINCT internal_id) AS companies'),
      most: MOST,
      span: 6,
      draw: (rows, { numbers }) =>
        heatMap(rows, {
          ...{ caption: 'Companies with any figure by country and fiscal year', value: 'companies' },
          show: numbers.whole,
        }),
      none: 'There are no figures.',
    },
    ...items.map(itemSection),
    {
      id: 'items',
      title: 'All line items',
      about:
        'Companies that report a line item in any year, and its first and last year. --line-item draws another one.',
      sql: `SELECT category, line_item, coalesce(n.name, line_item) AS item, companies, figures, first_year, last_year
FROM (
  SELECT category, line_item, count(DISTINCT internal_id) AS companies, count(*) AS figures, min(fiscal_year) AS first_year, max(fiscal_year) AS last_year
  FROM financials GROUP BY ALL
) LEFT JOIN line_item_names AS n USING (category, line_item)
ORDER BY companies DESC, category, line_item LIMIT ${ITEMS}`,
      most: ITEMS,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) =>
        topBars(
          rows,
          {
            name: (row) => html`${cellText(row.item)}`,
            small: (row) => cellText(row.line_item),
            ...{ value: 'companies', caption: 'Companies that report a line item' },
          },
          numbers,
        ),
      none: 'There are no figures.',
    },
    {
      id: 'missing-years',
      title: 'Missing years',
      about:
        'Companies without any figure of a year that lies between their first and last, counted by kind of statement.',
      sql: `SELECT country_code, fiscal_year, consolidation, count(*) AS companies
FROM missing_years GROUP BY ALL ORDER BY companies DESC, country_code, fiscal_year, consolidation LIMIT ${GAPS}`,
      most: GAPS,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) =>
        topBars(
          rows,
          {
            name: (row) => html`${cellText(row.country_code)} ${cellText(row.fiscal_year)}`,
            small: (row) => cellText(row.consolidation),
            ...{ value: 'companies', caption: 'Companies without a figure of the year' },
          },
          numbers,
        ),
      none: 'No year is missing between the first and the last of any company.',
    },
  ],
})

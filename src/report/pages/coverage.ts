/** Coverage: which countries report which line items in which years. */

import { heatMap } from '../charts.ts'
import type { ReportPage, Section } from '../section.ts'

/** Countries times years. */
const MOST = 1500
/** The newest, as many as a map has room for. */
const YEARS = 20
const NEWEST_YEARS = `fiscal_year > (SELECT max(fiscal_year) FROM financials) - ${YEARS}`
const ITEMS = 400
const GAPS = 200

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

const percent = (share: number): string => `${Math.round(share * 100)}%`

const itemSection = (item: string, at: number): Section => ({
  id: `item-${at}`,
  title: `${item}: share of companies`,
  about: `Of the companies of a country with any figure of the year, the share that reports ${item}; the newest ${YEARS} years.`,
  sql: `SELECT country_code, fiscal_year, max(companies) AS companies, round(max(share), 4) AS share
FROM coverage WHERE line_item = ${text(item)} AND ${NEWEST_YEARS}
GROUP BY ALL ORDER BY country_code, fiscal_year LIMIT ${MOST}`,
  most: MOST,
  chart: (rows) =>
    heatMap(rows, { x: 'fiscal_year', y: 'country_code', value: 'share', most: 1, show: percent }),
  none: `No company reports ${item}.`,
})

/** @param items line items with a heat map of their own */
export const coverage = (items: readonly string[]): ReportPage => ({
  id: 'coverage',
  title: 'Coverage',
  sections: [
    {
      id: 'reporting',
      title: 'Companies with any figure',
      about: `Companies of a country that report any figure of a fiscal year; the newest ${YEARS} years.`,
      sql: `SELECT country_code, fiscal_year, count(DISTINCT internal_id) AS companies
FROM financials WHERE ${NEWEST_YEARS}
GROUP BY ALL ORDER BY country_code, fiscal_year LIMIT ${MOST}`,
      most: MOST,
      chart: (rows) => heatMap(rows, { x: 'fiscal_year', y: 'country_code', value: 'companies' }),
      none: 'There are no figures.',
    },
    ...items.map(itemSection),
    {
      id: 'items',
      title: 'All line items',
      about:
        'Companies that report a line item in any year, and its first and last year. --line-item draws another one.',
      sql: `SELECT category, line_item, count(DISTINCT internal_id) AS companies, count(*) AS figures, min(fiscal_year) AS first_year, max(fiscal_year) AS last_year
FROM financials GROUP BY ALL ORDER BY companies DESC, category, line_item LIMIT ${ITEMS}`,
      most: ITEMS,
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
      none: 'No year is missing between the first and the last of any company.',
    },
  ],
})

/** What an analyst would ask a lake first; shown by `demo` with the answers. */

export interface DemoQuestion {
  readonly title: string
  readonly sql: string
}

const YEARS = [2020, 2021, 2022, 2023, 2024] as const

/** Figures of different currencies cannot be ranked, so the first question keeps to one. */
export const QUESTIONS: readonly DemoQuestion[] = [
  {
    title: 'Net sales of the ten largest companies by year, in millions of USD',
    sql: `WITH sales AS (
  SELECT internal_id, fiscal_year, value / 1e6 AS millions
  FROM financials
  WHERE category = 'ProfitAndLoss' AND line_item = 'NetSales'
    AND consolidation = 'Consolidated' AND currency = 'USD' AND fiscal_year >= ${YEARS[0]}
)
SELECT c.company_name, c.country_code AS country,
${YEARS.map((year) => `  round(max(millions) FILTER (fiscal_year = ${year}), 1) AS "${year}"`).join(',\n')}
FROM sales JOIN companies c USING (internal_id)
GROUP BY internal_id, c.company_name, c.country_code
ORDER BY max_by(millions, fiscal_year) DESC, internal_id
LIMIT 10`,
  },
  {
    title: 'Share of companies with an EBITDA, by country',
    sql: `WITH with_ebitda AS (
  SELECT DISTINCT internal_id, true AS has_ebitda FROM financials WHERE line_item = 'EBITDA'
)
SELECT coalesce(country_code, '(none)') AS country, count(*) AS companies, count(has_ebitda) AS with_ebitda,
  round(100 * count(has_ebitda) / count(*), 1) AS percent
FROM companies LEFT JOIN with_ebitda USING (internal_id)
GROUP BY country_code
ORDER BY companies DESC, country`,
  },
]

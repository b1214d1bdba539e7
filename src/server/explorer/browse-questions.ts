/** Questions of who knows no name: companies by facets, how many each value of a facet has, and the filtered ones in an order. */

import { literal } from '../../lake/duckdb/sql.ts'
import { count, list, objectOf, oneOf, optional, textLike } from '../../support/json-form.ts'
import { COMPANY_LIST } from './company-list.ts'
import { FOLDED_NAME, plain } from './company-questions.ts'
import { type Question, question } from './question.ts'

/** Companies of one answer at most: a page of the list has 50, a file all of them. */
const MOST_ROWS = 10_000
/** Values of a facet that are counted; the less frequent ones are found by search. */
const MOST_VALUES = 200
const MOST_CHOSEN = 50
const MOST_WORDS = 6

/** Facets and the columns of their values, in the list and in the view `companies`. The text of no value is empty. */
const COLUMNS = {
  country: ['country_code', 'c.country_code'],
  industry: ['industry_code', 'coalesce(c.industry_codes[1].code, c.industry_codes[1].text)'],
  status: ['status', 'c.operational_status_name'],
  form: ['legal_form', 'c.legal_form_name'],
  listed: ['listed', 'c.listing_type'],
  currency: ['currency', 'l.currency'],
} as const
type ColumnFacet = keyof typeof COLUMNS
const COLUMN_FACETS = Object.keys(COLUMNS) as readonly ColumnFacet[]
const FACETS = [...COLUMN_FACETS, 'size'] as const
type Facet = (typeof FACETS)[number]

/** Least net sales of the classes of size as powers of ten; those of the last one are below. */
const POWERS = [11, 10, 9, 8, 7, 6] as const
const SIZES = [...POWERS.map(String), 'below', 'other', 'none'] as const

/** Columns that neither filter nor sort: read for the rows that are shown alone. */
const DETAILS = [
  ...['org_no', 'city', 'fiscal_year', 'sales_by_year', 'consolidation', 'months', 'growth_reason'],
] as const

/** The class of size of a row, by the SQL of its net sales, of their currency, and of that in which sizes are. */
const sizeOf = (sales: string, currency: string, unit: string): string =>
  `CASE WHEN ${sales} IS NULL THEN 'none' WHEN ${currency} IS DISTINCT FROM ${unit} THEN 'other'
    ${POWERS.map((power) => `WHEN ${sales} >= 1e${power} THEN '${power}'`).join(' ')} ELSE 'below' END`

const shortText = textLike(/^[^\0]{0,200}$/, 'a text of up to 200 characters')
const chosen = optional(list(shortText))
const FILTER = {
  text: optional(shortText),
  ...{ country: chosen, industry: chosen, status: chosen, form: chosen, listed: chosen, currency: chosen },
  size: optional(list(oneOf(SIZES))),
}
const FILTERED = objectOf(FILTER)
type Filter = ReturnType<typeof FILTERED>

/** Puts values of a filter in: bound where they are asked with, written where they are shown. */
type Put = (value: string) => string

const binding = (values: string[]): Put => {
  return (value) => {
    values.push(value.toWellFormed())
    return `$${values.length}`
  }
}

const oneOfValues = (column: string, values: readonly string[], put: Put): string =>
  `coalesce(${column}, '') IN (${values.slice(0, MOST_CHOSEN).map(put).join(', ')})`

/** Companies whose name has every word, or whose number begins with the text. */
const textCondition = (text: string, put: Put): string => {
  const words = text.trim().split(/\s+/).slice(0, MOST_WORDS)
  const number = put(words.join(''))
  const holds = words.map((word) => `contains(${FOLDED_NAME}, lower(strip_accents(${put(word)}::VARCHAR)))`)
  return `(${holds.join(' AND ')} OR internal_id::VARCHAR = ${number}::VARCHAR OR starts_with(${plain('org_no')}, ${plain(`${number}::VARCHAR`)}))`
}

const isSet = (values: readonly string[] | undefined): values is readonly string[] =>
  values !== undefined && values.length > 0

/**
 * The companies that a text leaves, with a column `by_…` for each facet that says whether its values let a company pass, and the
 * currency in which most of those with net sales report: sizes are of this one, nothing is converted.
 *
 * @param isCounted whether those are there too that one facet alone does not let pass
 */
const matchedCompanies = (filter: Filter, put: Put, isCounted: boolean): string => {
  const { text = '', size } = filter
  const passes = COLUMN_FACETS.map((facet) => {
    const values = filter[facet]
    return `${isSet(values) ? oneOfValues(COLUMNS[facet][0], values, put) : 'true'} AS by_${facet}`
  })
  const strings = text.trim() === '' ? '' : ` WHERE ${textCondition(text, put)}`
  const base = `SELECT * EXCLUDE (${DETAILS.join(', ')}), ${passes.join(', ')} FROM ${COMPANY_LIST}${strings}`
  return `WITH base AS (
  ${isCounted ? base : `FROM (${base}) WHERE ${passing('size')}`}
), unit AS (
  SELECT currency FROM base WHERE net_sales IS NOT NULL AND ${passing('size')} GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1
), sized AS (
  SELECT *, (SELECT currency FROM unit) AS unit, ${sizeOf('net_sales', 'currency', '(SELECT currency FROM unit)')} AS size FROM base
), matched AS (
  SELECT *, ${isSet(size) ? `size IN (${size.map((one) => `'${one}'`).join(', ')})` : 'true'} AS by_size FROM sized
)`
}

/** Holds for companies that all facets let pass, one left out. */
const passing = (leftOut?: Facet): string =>
  FACETS.filter((facet) => facet !== leftOut)
    .map((facet) => `by_${facet}`)
    .join(' AND ')

const ORDERS = {
  name: 'company_name',
  country: 'country_code',
  sales: 'net_sales',
  growth: 'growth',
  margin: 'ebit_margin',
} as const
const BROWSED = objectOf({
  ...FILTER,
  order: optional(oneOf(Object.keys(ORDERS) as (keyof typeof ORDERS)[])),
  direction: optional(oneOf(['asc', 'desc'])),
  from: optional(count),
  most: optional(count),
})

/** The filtered companies in an order, from one on, with how many there are in all. */
const browse = question(
  BROWSED,
  async (run, { order = 'sales', direction = 'desc', from = 0, most = 50, ...filter }) => {
    const values: string[] = []
    // Net sales in other currencies cannot be compared: they follow.
    const first = order === 'sales' ? 'currency IS NOT DISTINCT FROM unit DESC, ' : ''
    const by = `${first}${ORDERS[order]} ${direction} NULLS LAST, company_name, internal_id`
    return run(
      `${matchedCompanies(filter, binding(values), false)}, page AS (
  SELECT internal_id, unit, count(*) OVER () AS companies FROM matched WHERE ${passing()}
  ORDER BY ${by} LIMIT ${Math.min(most, MOST_ROWS)} OFFSET ${from}
)
SELECT * EXCLUDE (industry_code, unit, companies), unit, companies
FROM page JOIN ${COMPANY_LIST} USING (internal_id) ORDER BY ${by}`,
      values,
    )
  },
  { needsList: true },
)

/** The statement of the sizes, as `query` knows it. */
const sizesSql = (filter: Filter, unit: string | null): string => {
  const conditions = COLUMN_FACETS.flatMap((facet) => {
    const values = filter[facet]
    return isSet(values) ? [oneOfValues(COLUMNS[facet][1], values, literal)] : []
  })
  const { text = '' } = filter
  const companies =
    text.trim() === '' ? 'companies' : `(FROM companies WHERE ${textCondition(text, literal)})`
  const where = conditions.length === 0 ? '' : `\nWHERE ${conditions.join(' AND ')}`
  return `SELECT ${sizeOf('l.value', 'l.currency', unit === null ? 'NULL' : literal(unit))} AS size, count(*) AS companies
FROM ${companies} AS c LEFT JOIN (
  FROM figures WHERE line_item = 'NetSales' QUALIFY row_number() OVER (PARTITION BY internal_id ORDER BY fiscal_year DESC) = 1
) AS l ON l.internal_id = c.internal_id${where}
GROUP BY ALL ORDER BY companies DESC, size`
}

/** Each facet's values with the companies that all other facets let pass; then the companies that all facets let pass. */
const facets = question(
  FILTERED,
  async (run, filter) => {
    const values: string[] = []
    const counted = COLUMN_FACETS.map((facet) => {
      const [column] = COLUMNS[facet]
      return `(SELECT '${facet}', coalesce(${column}, ''), ${facet === 'industry' ? 'min(industry)' : 'NULL'}, count(*) FROM matched
  WHERE ${passing(facet)} GROUP BY 2 ORDER BY 4 DESC, 2 LIMIT ${MOST_VALUES})`
    })
    const answer = await run(
      `${matchedCompanies(filter, binding(values), true)}
SELECT 'all' AS facet, (SELECT currency FROM unit) AS value, NULL AS label, count(*) AS companies FROM matched WHERE ${passing()}
UNION ALL SELECT 'size', size, NULL, count(*) FROM matched WHERE ${passing('size')} GROUP BY 2
UNION ALL ${counted.join('\nUNION ALL ')}
ORDER BY facet, companies DESC, value`,
      values,
    )
    const unit = answer.rows.find(([facet]) => facet === 'all')?.[1]
    return { ...answer, sql: sizesSql(filter, typeof unit === 'string' ? unit : null) }
  },
  { isKept: true, needsList: true },
)

export const BROWSE_QUESTIONS: Readonly<Record<string, Question>> = { browse, facets }

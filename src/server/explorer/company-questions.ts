/** Questions about companies: search as one types, and what a company's page shows. */

import { versionOrder } from '../../lake/views/version-order.ts'
import { objectOf, textLike } from '../../support/json-form.ts'
import { historyOf } from './company-history.ts'
import { companyId, type Question, question } from './question.ts'

/** Companies that a search shows. */
const MOST_FOUND = 20
const MOST_SIMILAR = 5
const MOST_WORDS = 6

export const askedText = textLike(/^[\s\S]{1,200}$/, 'a text of up to 200 characters')

export const FOLDED_NAME = `lower(strip_accents(company_name))`
export const plain = (column: string): string => `replace(replace(${column}, '-', ''), ' ', '')`

/** Companies whose name has every word, or whose number begins with the text. */
const search = question(objectOf({ text: askedText }), async (run, { text }) => {
  const sent = text.toWellFormed().replaceAll('\0', ' ').trim()
  const words = sent.split(/\s+/).slice(0, MOST_WORDS)
  const holds = words.map((_, at) => `contains(${FOLDED_NAME}, lower(strip_accents($${at + 3}::VARCHAR)))`)
  return run(
    `WITH asked AS (SELECT ${plain('$1::VARCHAR')} AS number, lower(strip_accents($2::VARCHAR)) AS name)
SELECT internal_id, company_name, org_no, country_code, operational_status_name AS status
FROM companies, asked
WHERE (${holds.join(' AND ')}) OR internal_id::VARCHAR = asked.number
  OR (asked.number <> '' AND starts_with(${plain('org_no')}, asked.number))
ORDER BY internal_id::VARCHAR = asked.number DESC, coalesce(starts_with(${FOLDED_NAME}, asked.name), false) DESC,
  length(company_name), company_name, internal_id
LIMIT ${MOST_FOUND}`,
    [sent, sent, ...words],
  )
})

/** Companies whose name is nearly the text, by the rule of `find_company`. */
const similar = question(objectOf({ text: askedText }), (run, { text }) =>
  run(
    `SELECT internal_id, company_name, org_no, country_code, NULL AS status
FROM find_company($1::VARCHAR) ORDER BY rank LIMIT ${MOST_SIMILAR}`,
    [text.toWellFormed().replaceAll('\0', ' ')],
  ),
)

const COMPANY = objectOf({ id: companyId })

const hasFigures = question(COMPANY, (run, { id }) =>
  run(
    `SELECT EXISTS (FROM financials WHERE internal_id = ${id}) OR EXISTS (FROM employees WHERE internal_id = ${id}) AS has_figures`,
  ),
)

/** The part of a company's page above its figures. */
const company = question(COMPANY, (run, { id }) =>
  run(`SELECT internal_id, company_name, org_no, country_code, operational_status_name AS status, legal_form_name AS legal_form,
  company_type_name AS company_type, listing_type, registration_date,
  address_street AS street, address_zipcode AS zipcode, address_city AS city, address_county AS county, coalesce(url, enhanced_url) AS url,
  list_transform(industry_codes, lambda one: concat_ws(' ', one.code, one.text)) AS industries,
  coalesce(business_description_eng, business_description_original, website_summary) AS description, previous_names,
  ultimate_parent_company_name AS ultimate_parent, current_currency_code AS currency, last_fiscal_year_end, financials_updated_at
FROM companies WHERE internal_id = ${id}`),
)

/** The reported figures in the order of a statement, headcounts last, each with its earlier values, the oldest first. */
const figures = question(COMPANY, (run, { id }) =>
  run(`WITH ${historyOf(id)}, earlier AS (
  SELECT consolidation, category, line_item, fiscal_year,
    list({'value': old_value, 'currency': old_currency, 'until_snapshot': snapshot, 'until': loaded_at} ORDER BY ${versionOrder()}) AS earlier
  FROM restated GROUP BY ALL
), shown AS (
  SELECT c.consolidation, c.category, c.line_item, coalesce(n.name, c.line_item) AS name, c.fiscal_year, c.value, c.currency,
    c.months, c.is_preferred, i.unit, r.earlier, n.position
  FROM financials AS c
  LEFT JOIN earlier AS r ON r.consolidation = c.consolidation AND r.category = c.category
    AND r.line_item = c.line_item AND r.fiscal_year = c.fiscal_year
  LEFT JOIN line_items AS i ON i.category = c.category AND i.line_item = c.line_item
  LEFT JOIN line_item_names AS n ON n.category = c.category AND n.line_item = c.line_item
  WHERE c.internal_id = ${id}
  UNION ALL
  SELECT consolidation, 'Employees', 'Employees', 'Employees', fiscal_year, employees, NULL, NULL, is_preferred, 'count', NULL, NULL
  FROM employees WHERE internal_id = ${id}
)
SELECT * EXCLUDE (position) FROM shown
ORDER BY consolidation, category = 'Employees', position NULLS LAST, category, line_item, fiscal_year`),
)

export const COMPANY_QUESTIONS: Readonly<Record<string, Question>> = {
  ...{ search, similar, company, figures },
  'has-figures': hasFigures,
}

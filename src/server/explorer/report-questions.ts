/** The overview, and the sections of the report over what the caller may see. */

import { definitionNames } from '../../analysis/definitions.ts'
import { pagesOf } from '../../report/pages.ts'
import type { Section } from '../../report/section.ts'
import { FormError, objectOf, optional, textLike } from '../../support/json-form.ts'
import { type Question, question } from './question.ts'

const NUMBERS = `SELECT count(*) AS companies, count(DISTINCT country_code) AS countries,
  (SELECT count(*) FROM relations) AS relations, max(last_fiscal_year_end)::DATE AS latest_year_end
FROM companies`

/** How the loads went, of the whole lake. */
const LOADS = `SELECT max(loaded_at) AS newest_load, count(*) AS loads,
  (SELECT coalesce(sum(gap_left), 0)::BIGINT FROM (
    FROM pulls QUALIFY row_number() OVER (PARTITION BY content, service, search, currency ORDER BY run DESC) = 1)) AS gap,
  coalesce(max_by(quarantined, run), 0)::BIGINT AS newly_quarantined, coalesce(sum(quarantined), 0)::BIGINT AS quarantined
FROM runs`

const fixed = (sql: string): Question =>
  question(objectOf({}), async (run) => ({ ...(await run(sql)), sql }), { isKept: true })

export const SECTION = objectOf({
  id: textLike(/^[a-z0-9-]{1,40}$/, 'the name of a section'),
  lineItem: optional(textLike(/^[^\0]{1,200}$/, 'a line item')),
})

/** Names of the rules on the data. */
export const qualityRules = (): readonly string[] =>
  [...definitionNames()]
    .filter((name) => /^quality_(?!findings$)/.test(name))
    .map((name) => name.replace('quality_', ''))

const section = question(
  SECTION,
  async (run, { id, lineItem = 'NetSales' }) => {
    const { sql } = sectionOf(id, lineItem)
    return { ...(await run(sql)), sql }
  },
  { isKept: true },
)

/** @throws {FormError} where there is no section of this name */
export const sectionOf = (id: string, lineItem: string): Section => {
  const pages = pagesOf({ lineItems: [lineItem], rules: qualityRules() })
  const found = pages.flatMap(({ sections }) => sections).find((one) => one.id === id)
  if (found === undefined) throw new FormError('the body.id', 'the name of a section')
  return found
}

/** Findings of each rule and severity that are shown. */
const SHOWN_FINDINGS = 40

/** Findings of one rule, or of all in one pass: the first of each severity, and how many there are. */
const findings = question(
  objectOf({ rule: optional(textLike(/^[a-z_]{1,40}$/, 'the name of a rule')) }),
  async (run, { rule }) => {
    if (rule !== undefined && !qualityRules().includes(rule))
      throw new FormError('the body.rule', `one of ${qualityRules().join(', ')}`)
    const from =
      rule === undefined ? 'quality_findings' : `(SELECT '${rule}' AS rule, * FROM quality_${rule})`
    return run(`SELECT rule, severity, internal_id, fiscal_year, item, round(value, 6) AS value, round(expected, 6) AS expected,
  count(*) OVER (PARTITION BY rule, severity) AS findings
FROM ${from}
QUALIFY row_number() OVER (PARTITION BY rule, severity ORDER BY internal_id, fiscal_year, item, value) <= ${SHOWN_FINDINGS}
ORDER BY rule, severity, internal_id, fiscal_year, item, value`)
  },
  { isKept: true },
)

export const REPORT_QUESTIONS: Readonly<Record<string, Question>> = {
  overview: fixed(NUMBERS),
  loads: fixed(LOADS),
  section,
  findings,
}

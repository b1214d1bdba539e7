/** Quality: what is probably wrong in the data, by the rules of the analysis layer. */

import { type Bar, barTable } from '../draw/bars.ts'
import { drawFindings } from '../draw/companies.ts'
import { type Html, html } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { cellNumber, cellText, columnSum, type ReportRow } from '../rows.ts'
import type { ReportPage, RowsOf } from '../section.ts'
import { sqlText } from '../sql-text.ts'
import { counted, ruleWords } from '../words.ts'

const FINDINGS = 500

export const RULES_ID = 'rules'
export const FINDINGS_ID = 'findings'

const countOf = (rowsOf: RowsOf): number =>
  columnSum(rowsOf(RULES_ID), 'errors') + columnSum(rowsOf(RULES_ID), 'notes')

const lead = (rowsOf: RowsOf, numbers: Numbers): Html => {
  const rows = rowsOf(RULES_ID)
  const [errors, notes] = [columnSum(rows, 'errors'), columnSum(rows, 'notes')]
  if (errors + notes === 0) return html`Nothing is probably wrong.`
  const said = counted(errors, 'error', numbers.whole(errors))
  return html`${counted(errors + notes, 'finding', numbers.whole(errors + notes))}: ${errors > 0 ? html`<b class="bad">${said}</b>` : html`${said}`}, ${counted(notes, 'note', numbers.whole(notes))}. Errors are probably wrong; a note is what sound data breaks now and then.`
}

const drawRules = (rows: readonly ReportRow[], numbers: Numbers): Html => {
  const bars = (column: string, of: (rule: string) => Omit<Bar, 'value'>): readonly Bar[] =>
    rows
      .map((row) => ({ ...of(cellText(row.rule)), value: cellNumber(row[column]) }))
      .filter(({ value }) => value > 0)
      .sort((a, b) => b.value - a.value)
  const found = [
    ...bars('errors', (rule) => ({
      name: html`<span class="bad">✖ Error</span> · ${ruleWords(rule)}`,
      small: rule,
      tone: 'fb',
    })),
    ...bars('notes', (rule) => ({ name: html`Note · ${ruleWords(rule)}`, small: rule, tone: 'fr' })),
  ]
  const clean = rows
    .filter((row) => cellNumber(row.errors) + cellNumber(row.notes) === 0)
    .map((row) => ruleWords(cellText(row.rule)))
  const table = found.length === 0 ? html`` : barTable(found, 'Findings by rule', numbers)
  return html`${table}${clean.length === 0 ? html`` : html`<p class="about"><span class="good" aria-hidden="true">✔</span> No finding: ${clean.join(', ')}.</p>`}`
}

/** @param rules names of all rules, those without findings too */
export const quality = (rules: readonly string[]): ReportPage => ({
  id: 'quality',
  title: 'Quality',
  count: countOf,
  lead,
  sections: [
    {
      id: RULES_ID,
      title: 'Findings by rule',
      about: 'Errors first.',
      sql: `SELECT rule, count(*) FILTER (severity = 'error') AS errors, count(*) FILTER (severity = 'note') AS notes
FROM unnest([${rules.map(sqlText).join(', ')}]) AS rules(rule) LEFT JOIN quality_findings USING (rule)
GROUP BY ALL ORDER BY rule`,
      span: 6,
      draw: (rows, { numbers }) => drawRules(rows, numbers),
      none: 'There are no rules.',
    },
    {
      id: FINDINGS_ID,
      title: 'Findings',
      about: 'Errors first, of each rule the largest; the view “quality_findings” has all of them.',
      sql: `SELECT f.severity, f.rule, f.internal_id, n.company_name, f.fiscal_year, f.item, round(f.value, 6) AS value, round(f.expected, 6) AS expected
FROM (
  SELECT *, row_number() OVER (
    PARTITION BY severity, rule ORDER BY abs(value - expected) DESC NULLS LAST, internal_id, fiscal_year, item, value
  ) AS rank
  FROM quality_findings
) AS f LEFT JOIN company_names AS n ON n.internal_id = f.internal_id
ORDER BY f.severity, f.rank, f.rule LIMIT ${FINDINGS}`,
      most: FINDINGS,
      span: 6,
      draw: drawFindings,
      none: 'Nothing is probably wrong.',
    },
  ],
})

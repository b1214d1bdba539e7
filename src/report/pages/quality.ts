/** Quality: what is probably wrong in the data, by the rules of the analysis layer. */

import { stackedBars } from '../charts.ts'
import type { ReportPage } from '../section.ts'

const FINDINGS = 300

export const RULES_ID = 'rules'

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

/** @param rules names of all rules, those without findings too */
export const quality = (rules: readonly string[]): ReportPage => ({
  id: 'quality',
  title: 'Quality',
  sections: [
    {
      id: RULES_ID,
      title: 'Findings by rule',
      about: 'Errors are probably wrong; a note is what sound data breaks now and then.',
      sql: `SELECT rule, count(*) FILTER (severity = 'error') AS errors, count(*) FILTER (severity = 'note') AS notes
FROM unnest([${rules.map(text).join(', ')}]) AS rules(rule) LEFT JOIN quality_findings USING (rule)
GROUP BY ALL ORDER BY rule`,
      chart: (rows) => stackedBars(rows, 'rule', { errors: 'errors', notes: 'notes' }),
      none: 'There are no rules.',
    },
    {
      id: 'findings',
      title: 'Findings',
      about: 'Errors first. The view "quality_findings" has all of them.',
      sql: `SELECT severity, rule, internal_id, fiscal_year, item, round(value, 6) AS value, round(expected, 6) AS expected
FROM quality_findings ORDER BY ALL LIMIT ${FINDINGS}`,
      most: FINDINGS,
      none: 'Nothing is probably wrong.',
    },
  ],
})

/** Companies that other sections name, for their links. */

import { drawNamed } from '../draw/companies.ts'
import type { Section } from '../section.ts'

/** @param ids whole numbers */
export const namedCompanies = (ids: readonly string[]): Section => ({
  id: 'companies',
  title: 'Companies named here',
  about:
    '“firmlake records --id” prints a company; how often its figures were restated, and what the rules found.',
  sql: `SELECT i.internal_id, c.company_name, c.country_code, c.current_currency_code AS currency, try_cast(c.last_fiscal_year_end AS DATE) AS last_year_end,
  (SELECT count(*) FROM restatements AS r WHERE r.internal_id = i.internal_id) AS restated_figures,
  (SELECT count(*) FROM quality_findings AS f WHERE f.internal_id = i.internal_id) AS findings
FROM unnest([${ids.join(', ')}]::BIGINT[]) AS i(internal_id) LEFT JOIN companies AS c USING (internal_id)
ORDER BY i.internal_id`,
  isFolded: true,
  draw: drawNamed,
  none: 'No company is named.',
})

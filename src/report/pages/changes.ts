/** Changes: figures that a later load changed, the largest first. */

import { partsByNight } from '../charts.ts'
import type { ReportPage } from '../section.ts'

const LARGEST = 100
const PARTS = 600

export const changes: ReportPage = {
  id: 'changes',
  title: 'Changes',
  sections: [
    {
      id: 'restated-nights',
      title: 'Restated figures a night',
      about: 'By day of the commit (UTC) and category.',
      sql: `SELECT * FROM (
  SELECT (loaded_at AT TIME ZONE 'UTC')::DATE AS night, category, count(*) AS figures
  FROM restatements GROUP BY ALL ORDER BY night DESC, category LIMIT ${PARTS}
) ORDER BY night, category`,
      most: PARTS,
      chart: (rows) => partsByNight(rows, 'category', 'figures'),
      none: 'No figure came again with another value. After a compaction only current versions are left.',
    },
    {
      id: 'largest-restatements',
      title: 'Largest restatements',
      about:
        'By change in percent of the figure before; where the currency changed there is none, and these come last.',
      sql: `SELECT r.internal_id, c.company_name, r.country_code, r.consolidation, r.line_item, r.fiscal_year, r.old_value, r.new_value,
  round(r.percent, 2) AS percent, r.new_currency AS currency, r.snapshot
FROM restatements AS r LEFT JOIN companies AS c ON c.internal_id = r.internal_id
ORDER BY abs(r.percent) DESC NULLS LAST, r.internal_id, r.consolidation, r.line_item, r.fiscal_year, r.snapshot LIMIT ${LARGEST}`,
      most: LARGEST,
      none: 'No figure came again with another value.',
    },
  ],
}

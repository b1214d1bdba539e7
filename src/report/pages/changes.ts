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
      sql: `SELECT internal_id, company_name, country_code, consolidation, line_item, fiscal_year, old_value, new_value,
  round(percent, 2) AS percent, new_currency AS currency, snapshot
FROM restatements
ORDER BY abs(restatements.percent) DESC NULLS LAST, internal_id, consolidation, line_item, fiscal_year, snapshot LIMIT ${LARGEST}`,
      most: LARGEST,
      none: 'No figure came again with another value.',
    },
  ],
}

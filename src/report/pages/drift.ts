/** Drift: names and codes that the contract does not know. */

import { partsByNight, rankedBars } from '../charts.ts'
import type { ReportPage } from '../section.ts'

const NAMES = 200
const BARS = 25
const PARTS = 400

export const drift: ReportPage = {
  id: 'drift',
  title: 'Drift',
  sections: [
    {
      id: 'drift-names',
      title: 'Unknown names',
      about: `Fields, categories, line items and codes that the contract does not know, with the records that have them and the loads that saw them; the bars are the first ${BARS}.`,
      sql: `SELECT content, kind, name, sum(records)::BIGINT AS records, count(DISTINCT run) AS loads, min(run) AS first_run, max(run) AS last_run
FROM drift GROUP BY ALL ORDER BY records DESC, content, kind, name LIMIT ${NAMES}`,
      most: NAMES,
      chart: (rows) => rankedBars(rows.slice(0, BARS), ['kind', 'name'], 'records'),
      none: 'Everything that was read is in the contract.',
    },
    {
      id: 'drift-nights',
      title: 'Over time',
      about: 'Records with unknown names by day of the commit (UTC) and kind.',
      sql: `SELECT * FROM (
  SELECT (r.loaded_at AT TIME ZONE 'UTC')::DATE AS night, d.kind, sum(d.records)::BIGINT AS records
  FROM drift AS d JOIN runs AS r ON r.run = d.run GROUP BY ALL ORDER BY night DESC, kind LIMIT ${PARTS}
) ORDER BY night, kind`,
      most: PARTS,
      chart: (rows) => partsByNight(rows, 'kind', 'records'),
      none: 'No load saw an unknown name.',
    },
  ],
}

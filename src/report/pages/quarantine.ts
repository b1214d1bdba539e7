/** Quarantine: why lines could not be loaded, where and when; never the lines. */

import { heatMap, partsByNight } from '../charts.ts'
import type { ReportPage } from '../section.ts'

const PARTS = 400
const SOURCES = 30

export const quarantine: ReportPage = {
  id: 'quarantine',
  title: 'Quarantine',
  sections: [
    {
      id: 'quarantine-nights',
      title: 'Reasons over time',
      about: 'Lines that could not be loaded, by day of the commit (UTC) and reason code.',
      sql: `SELECT * FROM (
  SELECT (loaded_at AT TIME ZONE 'UTC')::DATE AS night, code, sum(lines)::BIGINT AS lines
  FROM quarantine_by_load GROUP BY ALL ORDER BY night DESC, code LIMIT ${PARTS}
) ORDER BY night, code`,
      most: PARTS,
      chart: (rows) => partsByNight(rows, 'code', 'lines'),
      none: 'No line is in quarantine.',
    },
    {
      id: 'quarantine-sources',
      title: 'Reasons by source',
      about: `Of the ${SOURCES} sources with the most such lines.`,
      sql: `WITH most AS (
  SELECT source, sum(lines) AS total FROM quarantine_by_load GROUP BY ALL ORDER BY total DESC, source LIMIT ${SOURCES}
)
SELECT q.source, q.code, sum(q.lines)::BIGINT AS lines
FROM quarantine_by_load AS q JOIN most AS m ON m.source = q.source
GROUP BY q.source, q.code, m.total ORDER BY m.total DESC, q.source, lines DESC, q.code LIMIT ${PARTS}`,
      most: PARTS,
      chart: (rows) => heatMap(rows, { x: 'code', y: 'source', value: 'lines' }),
      none: 'No line is in quarantine.',
    },
  ],
}

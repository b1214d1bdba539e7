/** Quarantine: why lines could not be loaded, where and when; never the lines. */

import { nightBars, topBars } from '../draw/bars.ts'
import { html, untrustedText } from '../html.ts'
import { cellNumber, cellText, columnSum } from '../rows.ts'
import type { ReportPage } from '../section.ts'
import { counted, reasonWords } from '../words.ts'
import { NUMBERS_ID } from './overview.ts'

const CODES = 50
const PARTS = 400
const SOURCES = 30

export const quarantine: ReportPage = {
  id: 'quarantine',
  title: 'Quarantine',
  isHalf: true,
  none: 'No line is in quarantine.',
  count: (rowsOf) => columnSum(rowsOf('quarantine-codes'), 'lines'),
  lead: (rowsOf, numbers) => {
    const lines = columnSum(rowsOf('quarantine-codes'), 'lines')
    const newly = cellNumber(rowsOf(NUMBERS_ID)[0]?.newly_quarantined)
    if (lines === 0) return html``
    return html`${counted(lines, 'line', numbers.whole(lines))} in all, ${newly === 0 ? 'none' : numbers.whole(newly)} in the newest night. Lines themselves are never shown.`
  },
  sections: [
    {
      id: 'quarantine-codes',
      title: 'Reasons',
      about: 'Lines that could not be loaded, by reason code.',
      sql: `SELECT code, sum(lines)::BIGINT AS lines, (max(loaded_at) AT TIME ZONE 'UTC')::DATE AS newest
FROM quarantine_by_load GROUP BY ALL ORDER BY lines DESC, code LIMIT ${CODES}`,
      most: CODES,
      span: 6,
      draw: (rows, { numbers }) =>
        topBars(
          rows,
          {
            name: (row) => html`${reasonWords(cellText(row.code))}`,
            small: (row) => cellText(row.code),
            ...{ value: 'lines', caption: 'Bad lines by reason' },
          },
          numbers,
        ),
      none: 'No line is in quarantine.',
    },
    {
      id: 'quarantine-nights',
      title: 'Reasons over time',
      about: 'By day of the commit (UTC) and reason code; the newest first.',
      sql: `SELECT * FROM (
  SELECT (loaded_at AT TIME ZONE 'UTC')::DATE AS night, code, sum(lines)::BIGINT AS lines
  FROM quarantine_by_load GROUP BY ALL ORDER BY night DESC, code LIMIT ${PARTS}
) ORDER BY night, code`,
      most: PARTS,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) => nightBars(rows, 'code', 'lines', 'Bad lines a night', numbers),
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
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) =>
        topBars(
          rows,
          {
            name: (row) => untrustedText(cellText(row.source)),
            small: (row) => cellText(row.code),
            ...{ value: 'lines', caption: 'Bad lines by source and reason' },
          },
          numbers,
        ),
      none: 'No line is in quarantine.',
    },
  ],
}

/** Drift: names and codes that the contract does not know. */

import { nightBars } from '../draw/bars.ts'
import { type Html, html, untrustedText } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { TOP } from '../render-section.ts'
import { cellNumber, cellText, type ReportRow } from '../rows.ts'
import type { ReportPage } from '../section.ts'
import { counted, dateWords } from '../words.ts'

const NAMES = 200
const PARTS = 400

const line = (row: ReportRow, numbers: Numbers): Html =>
  html`<tr><th scope="row"><code>${untrustedText(cellText(row.name))}</code></th><td>${cellText(row.kind)}</td><td class="n">${dateWords(cellText(row.since))}</td><td class="n">${numbers.whole(cellNumber(row.records))}</td></tr>\n`

export const drift: ReportPage = {
  id: 'drift',
  title: 'Drift',
  isHalf: true,
  none: 'Everything that was read is in the contract.',
  count: (rowsOf) => rowsOf('drift-names').length,
  lead: (rowsOf, numbers) => {
    const names = rowsOf('drift-names').length
    if (names === 0) return html``
    const most = names >= NAMES ? 'At least ' : ''
    return html`${most}${counted(names, 'name', numbers.whole(names))} that the contract does not know.`
  },
  sections: [
    {
      id: 'drift-names',
      title: 'Unknown names',
      about: 'Fields, categories, line items and codes, with the records that have them.',
      sql: `SELECT content, kind, name, sum(records)::BIGINT AS records, count(DISTINCT run) AS loads,
  (min(loaded_at) AT TIME ZONE 'UTC')::DATE AS since, min(run) AS first_run, max(run) AS last_run
FROM drift LEFT JOIN (SELECT run, loaded_at FROM runs) USING (run)
GROUP BY ALL ORDER BY records DESC, content, kind, name LIMIT ${NAMES}`,
      most: NAMES,
      span: 6,
      draw: (rows, { numbers }) =>
        html`<table class="line"><caption class="vh">Unknown names</caption><thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col" class="n">Since</th><th scope="col" class="n">Records</th></tr></thead>
<tbody>
${rows.slice(0, TOP).map((row) => line(row, numbers))}</tbody></table>`,
      none: 'Everything that was read is in the contract.',
    },
    {
      id: 'drift-nights',
      title: 'Drift over time',
      about: 'Records with unknown names by day of the commit (UTC) and kind; the newest first.',
      sql: `SELECT * FROM (
  SELECT (r.loaded_at AT TIME ZONE 'UTC')::DATE AS night, d.kind, sum(d.records)::BIGINT AS records
  FROM drift AS d JOIN runs AS r ON r.run = d.run GROUP BY ALL ORDER BY night DESC, kind LIMIT ${PARTS}
) ORDER BY night, kind`,
      most: PARTS,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) =>
        nightBars(rows, 'kind', 'records', 'Records with unknown names a night', numbers),
      none: 'No load saw an unknown name.',
    },
  ],
}

/** Loads: what came in night by night, and how long it took. */

import { stackedBars } from '../charts.ts'
import { cellText, everyNight, type ReportRow } from '../rows.ts'
import type { ReportPage } from '../section.ts'

const NIGHTS = 92
const LOADS = 100

/** The newest come first in the table, and stand at the right of a chart. */
const inOrder = (rows: readonly ReportRow[]): readonly ReportRow[] => rows.toReversed()

export const loads: ReportPage = {
  id: 'loads',
  title: 'Loads',
  sections: [
    {
      id: 'nights',
      title: 'Companies a night',
      about:
        'By day of the commit (UTC): companies that no load had before; ones that came again with another figure (restated), with other data or further figures (changed), or as they were (unchanged). A night without a bar loaded none; a bar far above all others is cut, with its number below it.',
      sql: `SELECT (loaded_at AT TIME ZONE 'UTC')::DATE AS night, sum(companies)::BIGINT AS companies, sum(added)::BIGINT AS added,
  sum(restated)::BIGINT AS restated, sum(changed)::BIGINT AS changed, sum(unchanged)::BIGINT AS unchanged
FROM load_changes GROUP BY ALL ORDER BY night DESC LIMIT ${NIGHTS}`,
      most: NIGHTS,
      chart: (rows) =>
        stackedBars(everyNight(inOrder(rows)), 'night', {
          added: 'new',
          restated: 'restated',
          changed: 'changed',
          unchanged: 'unchanged',
        }),
      none: 'No companies were loaded.',
    },
    {
      id: 'durations',
      title: 'Duration',
      about: 'Seconds from the start of a load to its commit, companies and relations alike.',
      sql: `SELECT run, snapshot, loaded_at, partitions, lines, records, quarantined, filtered,
  round(epoch(loaded_at) - epoch(try_strptime(left(run, 15), '%Y%m%dT%H%M%S')), 1) AS seconds
FROM runs ORDER BY run DESC LIMIT ${LOADS}`,
      most: LOADS,
      chart: (rows) =>
        stackedBars(
          inOrder(rows).map((row) => ({
            ...row,
            loaded_at: cellText(row.loaded_at).slice(0, 16).replace('T', ' '),
          })),
          'loaded_at',
          { seconds: 'seconds' },
        ),
      none: 'Nothing is loaded.',
    },
    {
      id: 'snapshots',
      title: 'Snapshots',
      about: 'The newest snapshots that are kept; a compaction is one of its own.',
      sql: `SELECT snapshot, pipeline, committed_at, run, tool FROM snapshots ORDER BY snapshot DESC LIMIT ${LOADS}`,
      most: LOADS,
      none: 'There is no snapshot.',
    },
  ],
}

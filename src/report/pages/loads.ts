/** Loads: what came in night by night, and how long it took. */

import { topBars } from '../draw/bars.ts'
import { drawCheckNights } from '../draw/check-nights.ts'
import { drawNights } from '../draw/nights.ts'
import { type Html, html } from '../html.ts'
import { NBSP, type Numbers } from '../numbers.ts'
import { cellText } from '../rows.ts'
import type { ReportPage, RowsOf } from '../section.ts'
import { sqlText } from '../sql-text.ts'
import { counted, instantWords } from '../words.ts'

const NIGHTS = 92
const LOADS = 100
const CHECK_NIGHTS = 30
const CHECK_RESULTS = 2000
/** Nights without a load after the newest one; more say no more. */
const MOST_ABSENT = 14

/** Facts about nights that a snapshot does not have. */
export interface NightChoice {
  /** Days (`2026-11-20`, UTC) on which a run failed. */
  readonly failed?: readonly string[]
  /** The last day (UTC) that is over: without a load it is one that had none. */
  readonly until?: string
  /** Whether the newest load of companies brought fewer than is expected. */
  readonly isBelow?: boolean
}

/** Parts of a night: a company that several loads bring is of the first that holds. */
const PARTS = ['added', 'restated', 'changed', 'unchanged', 'older']

/** Who sees some countries alone does not see the runs, and finds the nights that brought companies. */
const nightsSql = (choice: NightChoice | undefined): string => {
  const { failed = [], until } = choice ?? {}
  const end = until === undefined ? '' : `, least(DATE ${sqlText(until)}, max(night) + ${MOST_ABSENT})`
  return `WITH loaded AS (
  SELECT (loaded_at AT TIME ZONE 'UTC')::DATE AS night, count(DISTINCT run) AS loads FROM ${choice === undefined ? 'load_companies' : 'runs'} GROUP BY ALL
), once AS (
  SELECT (loaded_at AT TIME ZONE 'UTC')::DATE AS night, internal_id,
    min(list_position([${PARTS.map(sqlText).join(', ')}], change)) AS part
  FROM load_companies GROUP BY ALL
), brought AS (
  SELECT night, count(*) AS companies, ${PARTS.map((part, at) => `count(*) FILTER (part = ${at + 1}) AS ${part}`).join(', ')}
  FROM once GROUP BY ALL
), failed AS (
  SELECT unnest([${failed.map(sqlText).join(', ')}]::DATE[]) AS night
), nights AS (
  SELECT unnest(generate_series(min(night), greatest(max(night)${end}), INTERVAL 1 DAY))::DATE AS night
  FROM (SELECT night FROM loaded UNION SELECT night FROM failed)
)
SELECT night, coalesce(companies, 0) AS companies, ${PARTS.map((part) => `coalesce(${part}, 0) AS ${part}`).join(', ')}, coalesce(loads, 0) AS loads,
  CASE WHEN loads > 0 THEN 'loaded' WHEN night IN (FROM failed) THEN 'failed' ELSE 'no load' END AS state
FROM nights LEFT JOIN loaded USING (night) LEFT JOIN brought USING (night)
ORDER BY night DESC LIMIT ${NIGHTS}`
}

const lead = (rowsOf: RowsOf): Html => {
  const nights = rowsOf('nights').slice(0, 30)
  if (nights.length === 0) return html``
  if (nights.length === 1) return html`All loads are of one night.`
  const of = (state: string): number => nights.filter((row) => row.state === state).length
  const [loaded, failed, none] = [of('loaded'), of('failed'), of('no load')]
  const said = `${loaded} of the last ${counted(nights.length, 'night')} ended with a snapshot`
  const others = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(none > 0 ? [`${none} had no load`] : []),
  ].join(', ')
  return html`${said}${others === '' ? '' : `; ${others}`}.`
}

const secondsText = (seconds: number, numbers: Numbers): string =>
  `${numbers.fixed(seconds, seconds < 100 ? 1 : 0)}${NBSP}s`

/** @param choice none where the runs are not to be seen */
export const loads = (choice?: NightChoice): ReportPage => ({
  id: 'loads',
  title: 'Loads',
  lead,
  sections: [
    {
      id: 'nights',
      title: 'Companies a night',
      about:
        'By day of the commit (UTC), each company once, as the first of: new, again with another figure (restated), with other data (changed), as it was, or older than the data of the lake.',
      sql: nightsSql(choice),
      most: NIGHTS,
      draw: (rows, { numbers }) => drawNights(rows, choice?.isBelow === true, numbers),
      none: 'Nothing is loaded.',
    },
    {
      id: 'check-nights',
      title: 'Checks over the nights',
      about:
        'Of loads that were checked before they were shown, by day (UTC): the worst result of each check, and what the newest night found.',
      sql: `SELECT rule, (checked_at AT TIME ZONE 'UTC')::DATE AS night, status, value, value_limit, expected, snapshot
FROM check_results
QUALIFY dense_rank() OVER (ORDER BY night DESC) <= ${CHECK_NIGHTS}
  AND row_number() OVER (PARTITION BY rule, night ORDER BY status = 'passed', status = 'note', snapshot DESC) = 1
ORDER BY night DESC, rule LIMIT ${CHECK_RESULTS}`,
      most: CHECK_RESULTS,
      draw: (rows, { numbers }) => drawCheckNights(rows, numbers),
      none: 'No load was checked before it was shown.',
    },
    {
      id: 'durations',
      title: 'Duration of loads',
      about:
        'Seconds from the start of a load to its commit, companies and relations alike; the newest first.',
      sql: `SELECT run, snapshot, loaded_at, partitions, lines, records, quarantined, filtered,
  round(epoch(loaded_at) - epoch(try_strptime(left(run, 15), '%Y%m%dT%H%M%S')), 1) AS seconds
FROM runs ORDER BY run DESC LIMIT ${LOADS}`,
      most: LOADS,
      span: 6,
      isFolded: true,
      draw: (rows, { numbers }) =>
        topBars(
          rows,
          {
            name: (row) => html`${instantWords(cellText(row.loaded_at))}`,
            small: (row) => `${numbers.exact(Number(row.records ?? 0))} records`,
            value: 'seconds',
            shown: (seconds) => secondsText(seconds, numbers),
            caption: 'Seconds of the newest loads',
          },
          numbers,
        ),
      none: 'Nothing is loaded.',
    },
    {
      id: 'snapshots',
      title: 'Snapshots',
      about: 'The newest snapshots that are kept; a compaction is one of its own.',
      sql: `SELECT snapshot, pipeline, committed_at, run, tool FROM snapshots ORDER BY snapshot DESC LIMIT ${LOADS}`,
      most: LOADS,
      span: 6,
      isFolded: true,
      none: 'There is no snapshot.',
    },
  ],
})

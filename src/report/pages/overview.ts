/** Overview: how the lake is, in a few numbers, and how they came about. */

import type { ReportPage } from '../section.ts'

const LOADS = 30

const NUMBERS = `SELECT
  (SELECT max(loaded_at) FROM runs) AS newest_load,
  (SELECT count(*) FROM companies) AS companies,
  (SELECT count(*) FROM financials) AS figures,
  (SELECT count(*) FROM relations) AS relations,
  (SELECT coalesce(sum(gap_left), 0)::BIGINT FROM (
    FROM pulls QUALIFY row_number() OVER (PARTITION BY content, service, search ORDER BY run DESC) = 1)) AS gap,
  (SELECT coalesce(sum(quarantined), 0)::BIGINT FROM runs
    WHERE (loaded_at AT TIME ZONE 'UTC')::DATE = (SELECT (max(loaded_at) AT TIME ZONE 'UTC')::DATE FROM runs)) AS newly_quarantined,
  (SELECT coalesce(sum(quarantined), 0)::BIGINT FROM runs) AS quarantined`

/** Rows count from the commit that showed them to the one that showed others in their place. */
const TREND = `WITH loads AS (
  SELECT snapshot, max(loaded_at) AS loaded_at, sum(records)::BIGINT AS records, sum(quarantined)::BIGINT AS quarantined,
    round(sum(epoch(loaded_at) - epoch(try_strptime(left(run, 15), '%Y%m%dT%H%M%S'))), 1) AS seconds
  FROM runs GROUP BY snapshot
), kinds AS (
  SELECT snapshot, string_agg(DISTINCT concat(content, ' from ', kind), ', ' ORDER BY concat(content, ' from ', kind)) AS kind
  FROM sources JOIN (SELECT run, snapshot FROM runs) USING (run) GROUP BY ALL
), grown AS (
  ${['companies', 'financials', 'relations']
    .flatMap((table) =>
      [
        ['shown_from', 1],
        ['shown_until', -1],
      ].map(
        ([instant, sign]) =>
          `SELECT '${table}' AS counted, ${instant} AS instant, ${sign} * count(*) AS rows FROM ${table}_history WHERE ${instant} IS NOT NULL GROUP BY ALL`,
      ),
    )
    .join('\n  UNION ALL ')}
), sums AS (
  SELECT l.snapshot, counted, sum(rows)::BIGINT AS rows FROM loads AS l JOIN grown AS g ON g.instant <= l.loaded_at GROUP BY ALL
)
SELECT snapshot, loaded_at, coalesce(max(s.rows) FILTER (counted = 'companies'), 0) AS companies,
  coalesce(max(s.rows) FILTER (counted = 'financials'), 0) AS figures, coalesce(max(s.rows) FILTER (counted = 'relations'), 0) AS relations,
  records, seconds, kind, (sum(quarantined) OVER (ORDER BY snapshot))::BIGINT AS quarantined
FROM loads LEFT JOIN sums AS s USING (snapshot) LEFT JOIN kinds USING (snapshot) GROUP BY snapshot, loaded_at, records, seconds, kind, loads.quarantined
ORDER BY snapshot DESC LIMIT ${LOADS}`

/** The section whose one row the tiles show, and the one of their lines. */
export const NUMBERS_ID = 'numbers'
export const TREND_ID = 'trend'

export const overview: ReportPage = {
  id: 'overview',
  title: 'Overview',
  sections: [
    {
      id: NUMBERS_ID,
      title: 'Numbers of the tiles',
      about:
        'Current companies, figures and relations. The gap is what the newest pull of each search missed; newly quarantined are the bad lines of the newest day (UTC) with a load.',
      sql: NUMBERS,
      isFolded: true,
      none: 'Nothing is loaded.',
    },
    {
      id: TREND_ID,
      title: 'Lines of the tiles',
      about:
        'By snapshot that brought something: companies, figures and relations that were current then; records and seconds of its load, and what was loaded from where, by which loads compare; quarantined lines so far.',
      sql: TREND,
      most: LOADS,
      isFolded: true,
      none: 'Nothing is loaded.',
    },
  ],
}

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

/** Figures of a version that another one replaced leave with it, those of one that was older when it came at once. */
const TREND = `WITH loads AS (
  SELECT snapshot, max(loaded_at) AS loaded_at, sum(records)::BIGINT AS records, sum(quarantined)::BIGINT AS quarantined,
    round(sum(epoch(loaded_at) - epoch(try_strptime(left(run, 15), '%Y%m%dT%H%M%S'))), 1) AS seconds
  FROM runs GROUP BY snapshot
), replaced AS (
  SELECT internal_id, version, greatest(snapshot, replacing) AS snapshot FROM (
    SELECT internal_id, version, snapshot, min(snapshot) OVER (
      PARTITION BY internal_id ORDER BY as_of, version ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS replacing
    FROM companies_history) WHERE replacing IS NOT NULL
), grown AS (
  SELECT snapshot, sum(added) AS companies, 0 AS figures, 0 AS relations FROM load_changes GROUP BY snapshot
  UNION ALL SELECT snapshot, 0, count(*), 0 FROM financials_history GROUP BY snapshot
  UNION ALL SELECT r.snapshot, 0, -count(*), 0 FROM replaced AS r JOIN financials_history AS f USING (internal_id, version) GROUP BY r.snapshot
  UNION ALL SELECT snapshot, 0, 0, count(*) FROM (SELECT min(snapshot) AS snapshot FROM relations_history GROUP BY internal_id) GROUP BY snapshot
), sums AS (
  SELECT snapshot, sum(companies) AS companies, sum(figures) AS figures, sum(relations) AS relations FROM grown GROUP BY snapshot
)
SELECT snapshot, loaded_at, (sum(s.companies) OVER so_far)::BIGINT AS companies, (sum(s.figures) OVER so_far)::BIGINT AS figures,
  (sum(s.relations) OVER so_far)::BIGINT AS relations, records, seconds, (sum(quarantined) OVER so_far)::BIGINT AS quarantined
FROM loads LEFT JOIN sums AS s USING (snapshot)
WINDOW so_far AS (ORDER BY snapshot)
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
        'By snapshot that brought something: companies, figures and relations so far, companies that the service no longer lists among them; records and seconds of its load; quarantined lines so far.',
      sql: TREND,
      most: LOADS,
      isFolded: true,
      none: 'Nothing is loaded.',
    },
  ],
}

/** Overview: how the lake is, in a few numbers. */

import type { ReportPage } from '../section.ts'

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

/** The section whose one row is shown as cards. */
export const NUMBERS_ID = 'numbers'

export const overview: ReportPage = {
  id: 'overview',
  title: 'Overview',
  sections: [
    {
      id: NUMBERS_ID,
      title: 'In numbers',
      about:
        'Current companies, figures and relations. The gap is what the newest pull of each search missed; quarantined are lines that could not be loaded, newly quarantined those of the newest day (UTC) with a load.',
      sql: NUMBERS,
      none: 'Nothing is loaded.',
    },
  ],
}

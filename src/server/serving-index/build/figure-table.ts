/** The table `figure`: what was gathered of companies' figures, and their headcounts. */

import { CONSOLIDATIONS } from '../../../contract/dictionaries.ts'
import type { Engine, Session } from '../../../lake/duckdb/engine.ts'
import { literal } from '../../../lake/duckdb/sql.ts'
import { sliceView } from '../../../load/restore/slices.ts'
import { EMPLOYEES } from '../index-form.ts'
import type { FigureRows } from './figure-rows.ts'

/** Appends the figures of a slice's companies, of which the views stand in the session. */
export const insertFigures = async (engine: Engine, session: Session, figures: FigureRows): Promise<void> => {
  if (figures.rows === 0) return
  const { from, remove } = await engine.addTable(figures.table())
  try {
    await session.run(`INSERT INTO segment.figure BY NAME
SELECT line_item, internal_id, fiscal_year, value, earlier, latest = 1 AS latest, current_currency_code AS currency
FROM ${from} LEFT JOIN (SELECT internal_id, current_currency_code FROM ${sliceView('companies')}) USING (internal_id)`)
  } finally {
    remove()
  }
}

/** Years without a headcount that a row bridges. */
const MOST_GAP = 16

/** Appends the headcounts of a slice's companies: the consolidated one of a year, else the unconsolidated one. */
export const insertHeadcounts = (): string => `INSERT INTO segment.figure BY NAME
WITH headcount AS (
  SELECT internal_id, fiscal_year::INTEGER AS year,
    coalesce(max(employees) FILTER (consolidation = ${literal(CONSOLIDATIONS[0].name)}), max(employees)) AS value
  FROM ${sliceView('employees')} GROUP BY ALL
), apart AS (
  SELECT *, coalesce(lead(year) OVER years - year > ${MOST_GAP + 1}, true) AS is_last, lead(year) OVER years IS NULL AS is_latest
  FROM headcount WINDOW years AS (PARTITION BY internal_id ORDER BY year)
), part AS (
  SELECT *, count(*) FILTER (is_last) OVER (PARTITION BY internal_id ORDER BY year DESC ROWS UNBOUNDED PRECEDING) AS no FROM apart
), grouped AS (
  SELECT internal_id, max(year) AS last, min(year) AS first, bool_or(is_latest) AS latest, map(list(year), list(value)) AS years
  FROM part GROUP BY internal_id, no
)
SELECT ${literal(EMPLOYEES)} AS line_item, internal_id, last::SMALLINT AS fiscal_year, years[last] AS value,
  list_transform(range(1, last - first + 1), lambda back : years[(last - back)::INTEGER]) AS earlier, latest
FROM grouped ORDER BY internal_id`

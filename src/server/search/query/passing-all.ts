/**
 * Many figure filters as one condition: as a subquery each, a hundred of them take DuckDB ten seconds to plan, whatever
 * there is to find, and no time limit ends the planning. Few of them are quicker one by one.
 */

import type { Filter } from '../request/read-filters.ts'
import type { Binder } from '../shared/bound-values.ts'
import { type FactorTexts, hasYear, valueOfYear } from './figure-values.ts'

export type FigureFilter = Extract<Filter, { kind: 'figure' }>

const ASKED = '[{"n":"VARCHAR","y":"SMALLINT","lo":"DOUBLE","hi":"DOUBLE","m":"BOOLEAN"}]'
const FACTORS = '"MAP(VARCHAR, STRUCT(c VARCHAR, y SMALLINT, f DOUBLE)[])"'

/**
 * Companies that pass all filters: `internal_id`. A SELECT to stand in brackets. A company has one figure of a name and
 * year, and one latest of a name: as many rows as filters mean that it passes each.
 */
export const passingAll = (
  filters: readonly FigureFilter[],
  factors: FactorTexts,
  { bind }: Binder,
): string => {
  const asked = JSON.stringify(
    filters.map(({ name, year, from, to }) => ({ n: name, y: year, lo: from, hi: to, m: factors.has(name) })),
  )
  const factorTexts = `{${[...factors].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
  const hits = (value: string, year: string, which: string): string => `
    SELECT internal_id, line_item::VARCHAR AS n, ${year} AS y, currency AS c, ${value} AS value, a.lo, a.hi, a.m
    FROM copy.figure JOIN asked AS a ON line_item::VARCHAR = a.n AND ${which}`
  return `
  WITH asked AS MATERIALIZED (SELECT unnest(from_json(${bind(asked, 'JSON')}, '${ASKED}'), recursive := true)),
  factor AS MATERIALIZED (
    SELECT one.key AS n, unnest(one.value, recursive := true)
    FROM (SELECT unnest(map_entries(from_json(${bind(factorTexts, 'JSON')}, '${FACTORS}'))) AS one)
  )
  SELECT internal_id
  FROM (${hits(valueOfYear('a.y'), 'a.y', hasYear('a.y'))} UNION ALL ${hits('value', 'fiscal_year', 'a.y IS NULL AND latest')}) AS hit
  LEFT JOIN factor USING (n, c, y)
  WHERE CASE WHEN m THEN value * f ELSE value END BETWEEN lo AND coalesce(hi, ${Number.MAX_VALUE})
  GROUP BY internal_id
  HAVING count(*) = ${bind(filters.length, 'BIGINT')}`
}

/**
 * A view that groups the figures of companies into many columns holds the groups of all companies at once, beyond the
 * memory that it is given. As a whole it is asked for by ranges of companies instead, one after the other.
 */

import type { LakeQuery } from '../../lake/query/lake-query.ts'

/** A statement that is such a view as it stands, and nothing else. */
const WHOLE_VIEW = /^\s*(?:SELECT\s+\*\s+)?FROM\s+(financials_wide)\s*;?\s*$/i

/** Companies of a range: their groups take about 150 MB. */
const COMPANIES = 5_000
/** Ranges at most, beyond which they grow: what DuckDB takes to plan them grows with their square, to a minute at 200. */
const RANGES = 40

/** The first company of each range but the first one. */
const firstCompanies = async (query: LakeQuery, companies: number): Promise<readonly unknown[]> => {
  const { rows } = await query.run(`SELECT internal_id FROM (
  SELECT internal_id, row_number() OVER (ORDER BY internal_id) - 1 AS place, count(*) OVER () AS n FROM companies
) WHERE place > 0 AND place % greatest(${companies}, ceil(n / ${RANGES})::BIGINT) = 0 ORDER BY internal_id`)
  const found: unknown[] = []
  for await (const chunk of rows) for (const [id] of chunk) found.push(id)
  return found
}

/** The same rows as the statement gives, in bounded memory; the statement itself where it is none of these. */
export const byRanges = async (query: LakeQuery, sql: string, companies = COMPANIES): Promise<string> => {
  const view = WHOLE_VIEW.exec(sql)?.[1]
  if (view === undefined) return sql
  const bounds = await firstCompanies(query, companies)
  const ranges = [...bounds, undefined].map((until, at) => {
    const [from, conditions] = [bounds[at - 1], [] as string[]]
    if (from !== undefined) conditions.push(`internal_id >= ${from}`)
    if (until !== undefined) conditions.push(`internal_id < ${until}`)
    return `SELECT * FROM ${view}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`
  })
  return ranges.join('\nUNION ALL ')
}

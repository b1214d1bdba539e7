/** Where the sorted rows of a content are cut into ranges: companies at equal distances in the order of the tables. */

import type { Content } from '../../contract/objects.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { compactOrder } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { HIDDEN_SCHEMA } from '../../lake/views/current-versions.ts'

const COUNTRY = 'country_code'

/** Of which record each row of a content's main table is: `owner`, `version`. */
export const ownersTable = (content: Content): string => `${HIDDEN_SCHEMA}.owners_${content}`

/** Some of them by which ranges are cut: `owner`, `country`. */
export const sampleTable = (content: Content): string => `${HIDDEN_SCHEMA}.sample_${content}`

const SAMPLED = 200_000

/**
 * Adds to the sample.
 *
 * @param rows SQL of rows of the main table
 * @param of how many rows the main table has in all
 */
export const sampleOwners = (main: Table, content: Content, rows: string, of: number): string => {
  const country = main.columns.some(({ name }) => name === COUNTRY) ? COUNTRY : 'NULL'
  return `INSERT INTO ${sampleTable(content)} SELECT internal_id, ${country} FROM (${rows})
WHERE hash(internal_id) % ${Math.ceil(of / SAMPLED)} = 0`
}

const isByCountry = (table: Table): boolean => compactOrder(table)[0] === COUNTRY

/**
 * Conditions that hold for the rows behind each of some cuts, the first cut first.
 *
 * @param ranges how many ranges there are to be
 */
export const splitPoints = async (
  session: Session,
  content: Content,
  table: Table,
  ranges: number,
): Promise<readonly string[]> => {
  const order = isByCountry(table) ? 'country, owner' : 'owner'
  const rows = await session.rows(`SELECT country, owner FROM (
  SELECT country, owner, row_number() OVER (ORDER BY ${order}) AS n, count(*) OVER () AS total
  FROM ${sampleTable(content)}
) WHERE n * ${ranges} // total > (n - 1) * ${ranges} // total AND n < total ORDER BY n`)
  return rows.map(({ country, owner }) =>
    isBehind(table, country === null ? null : String(country), String(owner)),
  )
}

const isBehind = (table: Table, country: string | null, owner: string): string => {
  const later = `${table.owner} > ${owner}`
  if (!isByCountry(table)) return later
  // No country comes last.
  if (country === null) return `country_code IS NULL AND ${later}`
  const own = literal(country)
  return `coalesce(country_code > ${own} OR (country_code = ${own} AND ${later}), true)`
}

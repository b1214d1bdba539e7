/** Ranges of records whose rows DuckDB sorts in memory, one range after the other. */

import type { Content } from '../contract/objects.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, literal, pathsSql } from '../lake/duckdb/sql.ts'
import type { Table } from '../lake/tables/tables.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import type { Work } from './compact-work.ts'
import { rowsInMemory } from './plan-compaction.ts'
import type { GroupRows } from './read-group.ts'

const COUNTRY = 'country_code'

/** Some records of a content by which ranges are cut: `owner`, `country`. */
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

/** Rows of a file that are read together, and the lowest and highest owner among them. */
interface RowGroup {
  readonly rows: number
  readonly min: bigint
  readonly max: bigint
}

/**
 * How often a row may be looked at. Where row groups hold records of many ranges, only the ids of the others are read, which takes a
 * hundredth of what a sort that spills takes.
 */
const MOST_READS = 100

/** Conditions of the ranges between bounds: each from behind one up to and with the next. */
const conditionsOf = (owner: string, bounds: readonly bigint[]): readonly string[] =>
  [...bounds, undefined].map((until, at) => {
    const from = bounds[at - 1]
    const limits = [
      ...(from === undefined ? [] : [`${owner} > ${from}`]),
      ...(until === undefined ? [] : [`${owner} <= ${until}`]),
    ]
    return limits.join(' AND ') || 'true'
  })

/** Whether a range's rows are found without reading most of the others. */
export const isWorthRanges = (groups: readonly RowGroup[], bounds: readonly bigint[]): boolean => {
  let [rows, read] = [0, 0]
  for (const group of groups) {
    const ranges = 1 + bounds.filter((bound) => group.min <= bound && bound < group.max).length
    rows += group.rows
    read += ranges * group.rows
  }
  return read <= MOST_READS * rows
}

const groupsOf = async (
  session: Session,
  owner: string,
  paths: readonly string[],
): Promise<readonly RowGroup[]> => {
  const rows = await session.rows(`SELECT row_group_num_rows AS rows,
  coalesce(try_cast(stats_min_value AS BIGINT), -9223372036854775808) AS min,
  coalesce(try_cast(stats_max_value AS BIGINT), 9223372036854775807) AS max
FROM parquet_metadata(${pathsSql(paths)}) WHERE path_in_schema = ${literal(owner)}`)
  return rows.map(({ rows: count, min, max }) => ({
    rows: Number(count),
    min: BigInt(String(min)),
    max: BigInt(String(max)),
  }))
}

/**
 * @param paths of the files that hold the rows
 * @returns conditions on the owner, the lowest range first; one that all rows meet where ranges gain nothing
 */
export const sortRanges = async (
  { session, memory }: Work,
  { columns, owner = '' }: Table,
  content: Content,
  { paths }: Pick<GroupRows, 'paths'>,
): Promise<readonly string[]> => {
  const groups = await groupsOf(session, owner, paths)
  const rows = groups.reduce((sum, group) => sum + group.rows, 0)
  const ranges = Math.ceil(rows / rowsInMemory(memory, { columns }))
  if (ranges <= 1) return conditionsOf(ident(owner), [])
  const shares = Array.from({ length: ranges - 1 }, (_, at) => (at + 1) / ranges)
  const found = await session.rows(
    `SELECT DISTINCT unnest(quantile_disc(owner, [${shares.join(', ')}])) AS bound FROM ${sampleTable(content)} ORDER BY bound`,
  )
  const bounds = found.map(({ bound }) => BigInt(String(bound)))
  return conditionsOf(ident(owner), isWorthRanges(groups, bounds) ? bounds : [])
}

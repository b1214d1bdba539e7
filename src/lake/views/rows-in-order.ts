/**
 * Marks the old rows of a table, for a session that keeps the order of rows. DuckDB keeps it where it scans and filters, and gives
 * it up where it joins: so the places of old rows are found first, and kept as bits that a filter looks at.
 */

import type { Session } from '../duckdb/engine.ts'
import { ident } from '../duckdb/sql.ts'
import type { PlaceOf } from '../files/fetch-tables.ts'
import type { Table } from '../tables/tables.ts'
import { oldMacro } from './base-views.ts'
import { filesOf, HIDDEN_SCHEMA, type Listed, readTable, supersededVersions } from './current-versions.ts'

/** Rows whose bits stand together: DuckDB copies them for each piece of rows that it filters, 2,048 at once. */
const SEGMENT_ROWS = 2 ** 20

const variableOf = ({ name }: Table, segment: number): string => `${HIDDEN_SCHEMA}_old_${name}_${segment}`

/** Whether the row at a `place` is old: by halves, so that of many segments a few are compared. */
const isOldAt = (table: Table, segments: readonly number[], segmentRows: number): string => {
  const [segment = 0, ...others] = segments
  const first = segment * segmentRows
  if (segments.length === 0) return 'false'
  if (others.length === 0)
    return `CASE WHEN place >= ${first} AND place < ${first + segmentRows} THEN get_bit(getvariable('${variableOf(table, segment)}'), (place - ${first})::INTEGER) = 1 ELSE false END`
  const half = Math.ceil(segments.length / 2)
  const [left, right] = [segments.slice(0, half), segments.slice(half)]
  return `CASE WHEN place < ${(right[0] ?? 0) * segmentRows} THEN ${isOldAt(table, left, segmentRows)} ELSE ${isOldAt(table, right, segmentRows)} END`
}

/**
 * Finds the places of old rows, of which the versions are known.
 *
 * @returns whether the row at a `place` is old, in SQL
 */
export const markOld = async (
  session: Session,
  table: Table,
  listed: Listed,
  at: PlaceOf,
  segmentRows = SEGMENT_ROWS,
): Promise<string> => {
  const { content, owner } = table
  if (content === undefined || owner === undefined) return 'false'
  const versions = new Set((await session.rows(supersededVersions(content))).map(({ version }) => version))
  const files = filesOf(listed, at, table.name).filter(({ version }) => versions.has(version))
  if (files.length === 0) return 'false'
  const places = `${HIDDEN_SCHEMA}.old_places`
  await session.run(`CREATE OR REPLACE TABLE ${places} AS
SELECT place // ${segmentRows} AS segment, bitstring_agg((place % ${segmentRows})::INTEGER, 0, ${segmentRows - 1}) AS bits
FROM (${readTable(table, files, 'with-place')}) AS r
SEMI JOIN ${oldMacro(table)}() AS o ON o.owner = r.${ident(owner)} AND o.version = r.version GROUP BY ALL`)
  const found = await session.rows(`SELECT segment::INTEGER AS segment FROM ${places} ORDER BY segment`)
  const segments = found.map(({ segment }) => Number(segment))
  for (const segment of segments)
    await session.run(
      `SET VARIABLE ${variableOf(table, segment)} = (SELECT bits FROM ${places} WHERE segment = ${segment})`,
    )
  await session.run(`DROP TABLE ${places}`)
  return isOldAt(table, segments, segmentRows)
}

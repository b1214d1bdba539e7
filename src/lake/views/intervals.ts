/**
 * Over which versions of its record a compacted row is valid: from the first that had exactly it up to, and without, the first later
 * one that had not. Versions that came after the compaction may cut it. Rows go by the places of versions in the order of their record
 * meanwhile: `places` is SQL of a relation with the columns of a chain (`version-chain.ts`).
 */

import { ident } from '../duckdb/sql.ts'
import { FIRST_VERSION } from '../tables/past-tables.ts'
import type { Table } from '../tables/tables.ts'
import { MERGED_IN } from './current-versions.ts'

/** Names of the columns of rows of files, beside those of the table and `version` of their partition. */
export const HELD = { first: 'firmlake_first', until: 'firmlake_until', in: 'firmlake_merged_in' } as const

const namesIn = ({ columns }: Table, alias: string): string =>
  columns.map(({ name }) => `${alias}.${ident(name)}`).join(', ')

/**
 * Rows of a table as they stand in the files of a lake.
 *
 * @param current SQL of rows with `version` @param hasFirst whether they have the first version of each row
 * @param past SQL of past rows with `merged_in`. @default none
 */
export const heldRows = (table: Table, current: string, hasFirst: boolean, past?: string): string => {
  const first = hasFirst ? `r.${ident(FIRST_VERSION.name)}` : 'NULL::BIGINT'
  const held = `SELECT ${namesIn(table, 'r')}, r.version::BIGINT AS version, ${first} AS ${HELD.first}, NULL::BIGINT AS ${HELD.until}, r.version::BIGINT AS ${HELD.in} FROM (${current}) AS r`
  return past === undefined
    ? held
    : `${held}\nUNION ALL\nSELECT ${namesIn(table, 'p')}, NULL, p.version, p.until, p.${MERGED_IN}::BIGINT FROM (${past}) AS p`
}

/** Rows of records that have one version: with the first and without an end, or past ones as they stand. @param held as `heldRows` */
export const settledRows = (table: Table, held: string): string =>
  `SELECT ${namesIn(table, 'h')}, coalesce(h.${HELD.first}, h.version) AS version, h.${HELD.until} AS until FROM (${held}) AS h`

const at = ({ owner = '' }: Table, alias: string, version: string): string =>
  `${alias}.owner = h.${ident(owner)} AND ${alias}.version = ${version}`

/** Rows of loads: `version` is the place of their version, `until` the next one. @param held as `heldRows` */
export const loadedRows = (table: Table, held: string, places: string): string =>
  `SELECT ${namesIn(table, 'h')}, n.place AS version, n.place + 1 AS until
FROM (${held}) AS h JOIN ${places} AS n ON ${at(table, 'n', 'h.version')} WHERE h.${HELD.first} IS NULL`

/**
 * Rows of a compaction: `version` is the place of the first version that had the row, `until` that of the first behind it that had not.
 * Versions of other partitions may stand between those that were put together.
 *
 * @param held as `heldRows`
 */
export const compactedRows = (table: Table, held: string, places: string): string => {
  const stretches = `SELECT owner, merged_in, min(place) AS first_place, max(place) + 1 AS until_place, any_value(behind) AS behind FROM (
    SELECT *, place - row_number() OVER (PARTITION BY owner, merged_in ORDER BY place) AS stretch,
      1 + max(place) FILTER (NOT is_listing) OVER (PARTITION BY owner, merged_in) AS behind FROM ${places} WHERE merged_in IS NOT NULL
  ) GROUP BY owner, merged_in, stretch`
  const ends = `SELECT owner, version, list(place ORDER BY place) AS at FROM ${places} GROUP BY owner, version`
  const first = `h.${HELD.first}`
  const cut = (until: string): string =>
    `SELECT ${namesIn(table, 'h')}, greatest(n.place, s.first_place) AS version, least(${until}, s.until_place) AS until`
  const from = (
    more: string,
  ): string => `FROM (${held}) AS h JOIN ${places} AS n ON ${at(table, 'n', first)}${more}
JOIN (${stretches}) AS s ON s.owner = n.owner AND s.merged_in = h.${HELD.in} AND s.until_place > n.place`
  const ended = 'list_filter(u.at, x -> x > n.place)[1]'
  // A current row goes up to the last version of its record that was put together, also where a listing lacks the company since.
  return `${cut('s.behind')}
${from('')} AND s.first_place < s.behind WHERE ${first} IS NOT NULL AND h.${HELD.until} IS NULL
UNION ALL
${cut(ended)}
${from(`\nJOIN (${ends}) AS u ON ${at(table, 'u', `h.${HELD.until}`)}`)} AND s.first_place < ${ended}`
}

/** Each of such rows once over all neighbouring versions that had it. @param rows by places */
export const joinedRows = ({ columns }: Table, rows: string): string => {
  const names = columns.map(({ name }) => ident(name)).join(', ')
  return `SELECT ${names}, min(version) AS version, max(until) AS until, sum(until - version) < max(until) - min(version) AS is_torn
FROM (${rows}) GROUP BY ${names}`
}

/** The same of rows that other versions stand between: each stretch of neighbours by itself. @param rows by places */
export const tornRows = ({ columns }: Table, rows: string): string => {
  const names = columns.map(({ name }) => ident(name)).join(', ')
  const along = `PARTITION BY ${names} ORDER BY place`
  return `SELECT ${names}, min(version) AS version, max(until) AS until, false AS is_torn FROM (
  SELECT *, count(*) FILTER (begins) OVER (${along}) AS stretch
  FROM (SELECT *, lag(until) OVER (${along}) IS DISTINCT FROM place AS begins FROM (SELECT *, version AS place FROM (${rows})))
) GROUP BY ${names}, stretch`
}

/** Rows by places with the versions that stand there, and whether the record had them in its last version (`is_last`). */
export const versionedRows = (table: Table, rows: string, places: string): string => {
  const { owner = '' } = table
  const of = (alias: string): string => `${alias}.owner = r.${ident(owner)}`
  return `SELECT ${namesIn(table, 'r')}, f.version, u.version AS until, r.until > l.last_place AS is_last
FROM (${rows}) AS r JOIN ${places} AS f ON ${of('f')} AND f.place = r.version
LEFT JOIN ${places} AS u ON ${of('u')} AND u.place = r.until
JOIN (SELECT owner, max(place) FILTER (NOT is_listing) AS last_place FROM ${places} GROUP BY owner) AS l ON ${of('l')}`
}

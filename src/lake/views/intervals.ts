/**
 * Over which versions of its record a row is valid: from the first that had exactly it up to, and without, the first later one that
 * had not. The lists of versions alone tell it. A load's row is valid until the next version of its record in the order; a compacted
 * row has its own interval, which versions that came later may cut.
 */

import { ident } from '../duckdb/sql.ts'
import { FIRST_VERSION } from '../tables/past-tables.ts'
import type { Table } from '../tables/tables.ts'
import { versionOrder } from './version-order.ts'

/** The versions of the records of a content, as SQL of rows. */
export interface KnownVersions {
  /** Superseded ones: `owner`, `version`, `as_of`, `is_listing`, `next`, `is_gone`. */
  readonly superseded: string
  /** Those that a compaction has put together: `owner`, `version`, `as_of`, `is_listing`. @default none */
  readonly merged?: string | undefined
  /** The numbers that stand for them in the list of superseded ones: of records, and of listings. */
  readonly compacted: { readonly records: number; readonly all: readonly number[] } | undefined
}

/**
 * Versions each with its place in the order of its record and the version behind it (`until`); `is_last` of the last one that is no
 * listing.
 *
 * @param known SQL of `owner`, `version`, `as_of`, `is_listing`, and `is_merged` where a compaction has put it together with others
 */
export const placedSql = (known: string): string => `WITH placed AS (
  SELECT owner, version, is_listing, is_merged, row_number() OVER behind AS place, lead(version) OVER behind AS until
  FROM (${known}) WINDOW behind AS (PARTITION BY owner ORDER BY ${versionOrder()})
)
SELECT *, NOT is_listing AND place = max(place) FILTER (NOT is_listing) OVER (PARTITION BY owner) AS is_last FROM placed`

/** All versions of the records of which any is superseded, as `placedSql`. */
export const placesSql = ({ superseded, merged, compacted }: KnownVersions): string => {
  const isLive = (version: string): string =>
    compacted === undefined ? '' : ` WHERE ${version} NOT IN (${compacted.all.join(', ')})`
  const ofCompactions =
    merged === undefined
      ? ''
      : `
UNION ALL
SELECT owner, version, as_of, is_listing, true FROM (${merged}) SEMI JOIN listed USING (owner)`
  return placedSql(`WITH listed AS MATERIALIZED (${superseded})
SELECT owner, version, as_of, is_listing, false AS is_merged FROM listed${isLive('version')}
UNION ALL
SELECT owner, last.next, 'infinity'::TIMESTAMPTZ, last.is_gone, false FROM (
  SELECT owner, max({'as_of': as_of, 'version': version, 'next': next, 'is_gone': is_gone}) AS last FROM listed GROUP BY owner
)${isLive('last.next')}${ofCompactions}`)
}

/** Until when the rows of a partition are valid, by `owner` and `version` of the partition: `until`. @param places as `placesSql` */
export const endsSql = (places: string, { compacted }: Pick<KnownVersions, 'compacted'>): string => {
  const own = `SELECT owner, version, until FROM ${places} WHERE NOT is_listing`
  if (compacted === undefined) return own
  return `${own} AND NOT is_merged
UNION ALL
SELECT owner, ${compacted.records}, arg_max_null(until, place) FROM ${places}
WHERE NOT is_listing AND is_merged GROUP BY owner`
}

/** The stretches of merged versions of each record that no later one stands between. @param places as `placesSql` */
const stretchesSql = (
  places: string,
): string => `SELECT owner, arg_min(version, place) AS first, min(place) AS first_place,
  arg_max_null(until, place) AS until, max(place) + 1 AS until_place
FROM (
  SELECT *, count(*) FILTER (NOT is_merged) OVER (PARTITION BY owner ORDER BY place) AS stretch FROM ${places}
) WHERE is_merged GROUP BY owner, stretch`

/**
 * The stretches of merged versions that no later one stands between, of the records that have several: `first` and `until`, their
 * places, and those of all versions of the record.
 */
export const cutsSql = (places: string): string => `SELECT p.*, m.places FROM (
  SELECT * FROM (${stretchesSql(places)}) QUALIFY count(*) OVER (PARTITION BY owner) > 1
) AS p JOIN (SELECT owner, map(list(version), list(place)) AS places FROM ${places} GROUP BY owner) AS m ON m.owner = p.owner`

/** Names of the columns of rows of files, beside those of the table and `version` of their partition. */
export const HELD = { first: 'firmlake_first', until: 'firmlake_until' } as const

/**
 * Rows of a table as they stand in the files of a lake.
 *
 * @param current SQL of rows with `version` @param hasFirst whether they have the first version of each row
 * @param past SQL of past rows. @default none
 */
export const heldRows = ({ columns }: Table, current: string, hasFirst: boolean, past?: string): string => {
  const names = columns.map(({ name }) => ident(name)).join(', ')
  const first = hasFirst ? ident(FIRST_VERSION.name) : 'NULL::BIGINT'
  const held = `SELECT ${names}, version::BIGINT AS version, ${first} AS ${HELD.first}, NULL::BIGINT AS ${HELD.until} FROM (${current})`
  return past === undefined
    ? held
    : `${held}\nUNION ALL\nSELECT ${names}, NULL, version, until FROM (${past})`
}

/**
 * Rows with the intervals in which they are valid: `version`, `until`.
 *
 * @param held as `heldRows` @param tables as `endsSql` and `cutsSql`. @default nothing of the records is superseded, nothing is cut
 */
export const intervalRows = (
  { columns, owner = '' }: Table,
  held: string,
  { ends, cuts }: { readonly ends?: string | undefined; readonly cuts?: string | undefined } = {},
): string => {
  const names = (alias: string): string => columns.map(({ name }) => `${alias}.${ident(name)}`).join(', ')
  const version = `coalesce(h.${HELD.first}, h.version) AS version`
  if (ends === undefined)
    return `SELECT ${names('h')}, ${version}, h.${HELD.until} AS until FROM (${held}) AS h`
  const rows = (
    more: string,
  ): string => `SELECT ${names('h')}, ${version}, coalesce(h.${HELD.until}, e.until) AS until${more}
FROM (${held}) AS h LEFT JOIN ${ends} AS e ON e.owner = h.${ident(owner)} AND e.version = h.version`
  if (cuts === undefined) return rows('')
  // A row without an end is valid for ever.
  const behind = 'coalesce(c.places[r.until], 9223372036854775807)'
  return `SELECT ${names('r')},
  CASE WHEN c.places[r.version] < c.first_place THEN c.first ELSE r.version END AS version,
  CASE WHEN ${behind} > c.until_place THEN c.until ELSE r.until END AS until
FROM (${rows(`, h.${HELD.first} IS NOT NULL AS is_merged`)}) AS r LEFT JOIN ${cuts} AS c ON r.is_merged AND c.owner = r.${ident(owner)}
WHERE c.owner IS NULL OR (c.first_place < ${behind} AND c.until_place > c.places[r.version])`
}

/**
 * The rows of some records by the places of versions instead: `version` the place of the first one that had the row, `until` that of
 * the first behind it that had not.
 *
 * @param held as `heldRows` @param places as `placesSql` @param hasMerged whether any of the rows are a compaction's
 */
export const placedRows = (table: Table, held: string, places: string, hasMerged: boolean): string => {
  const { columns, owner = '' } = table
  const names = columns.map(({ name }) => `h.${ident(name)}`).join(', ')
  const at = (alias: string, version: string): string =>
    `${alias}.owner = h.${ident(owner)} AND ${alias}.version = ${version}`
  const loaded = `SELECT ${names}, n.place AS version, n.place + 1 AS until
FROM (${held}) AS h JOIN ${places} AS n ON ${at('n', 'h.version')} WHERE h.${HELD.first} IS NULL`
  if (!hasMerged) return loaded
  // Versions that came later may stand between those that were put together.
  return `${loaded}
UNION ALL
SELECT ${names}, greatest(h.version, s.first_place), least(h.until, s.until_place) FROM (
  SELECT h.* REPLACE (n.place AS version),
    CASE WHEN h.${HELD.until} IS NULL THEN e.behind ELSE list_filter(u.places, x -> x > n.place)[1] END AS until
  FROM (${held}) AS h JOIN ${places} AS n ON ${at('n', `h.${HELD.first}`)}
  JOIN (SELECT owner, max(place) + 1 AS behind FROM ${places} WHERE is_merged AND NOT is_listing GROUP BY owner) AS e ON e.owner = n.owner
  LEFT JOIN (SELECT owner, version, list(place ORDER BY place) AS places FROM ${places} GROUP BY owner, version) AS u ON ${at('u', `h.${HELD.until}`)}
  WHERE h.${HELD.first} IS NOT NULL
) AS h JOIN (${stretchesSql(places)}) AS s ON s.owner = h.${ident(owner)} AND s.first_place < h.until AND s.until_place > h.version`
}

/**
 * Each of such rows once over all neighbouring versions that had it.
 *
 * @param rows as `placedRows`
 */
export const joinedRows = ({ columns }: Table, rows: string): string => {
  const names = columns.map(({ name }) => ident(name)).join(', ')
  return `SELECT ${names}, min(version) AS version, max(until) AS until, sum(until - version) < max(until) - min(version) AS is_torn
FROM (${rows}) GROUP BY ${names}`
}

/** The same of rows that other versions stand between: each stretch of neighbours by itself. @param rows as `placedRows` */
export const tornRows = ({ columns }: Table, rows: string): string => {
  const names = columns.map(({ name }) => ident(name)).join(', ')
  const along = `PARTITION BY ${names} ORDER BY version`
  return `SELECT ${names}, min(version) AS version, max(until) AS until, false AS is_torn FROM (
  SELECT *, count(*) FILTER (begins) OVER (${along}) AS stretch
  FROM (SELECT *, lag(until) OVER (${along}) IS DISTINCT FROM version AS begins FROM (${rows}))
) GROUP BY ${names}, stretch`
}

/** Rows by places with the versions that stand there, and whether the record had them in its last version (`is_last`). */
export const versionedRows = ({ columns, owner = '' }: Table, rows: string, places: string): string => {
  const names = columns.map(({ name }) => `r.${ident(name)}`).join(', ')
  const at = (alias: string): string => `${alias}.owner = r.${ident(owner)}`
  return `SELECT ${names}, f.version, u.version AS until, l.place IS NOT NULL AS is_last
FROM (${rows}) AS r JOIN ${places} AS f ON ${at('f')} AND f.place = r.version
LEFT JOIN ${places} AS u ON ${at('u')} AND u.place = r.until
LEFT JOIN ${places} AS l ON ${at('l')} AND l.is_last AND l.place = r.until - 1`
}

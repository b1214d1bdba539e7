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

/**
 * The stretches of merged versions that no later one stands between, of the records that have several: `first` and `until`, their
 * places, and those of all versions of the record.
 */
export const cutsSql = (places: string): string => `SELECT p.*, m.places FROM (
  SELECT owner, arg_min(version, place) AS first, min(place) AS first_place, arg_max_null(until, place) AS until, max(place) + 1 AS until_place
  FROM (
    SELECT *, count(*) FILTER (NOT is_merged) OVER (PARTITION BY owner ORDER BY place) AS stretch FROM ${places}
  ) WHERE is_merged GROUP BY owner, stretch
  QUALIFY count(*) OVER (PARTITION BY owner) > 1
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
 * The same rows with equal neighbours put together; `is_last` where the record had the row in its last version.
 *
 * @param rows as `intervalRows`, of records of which any version is superseded @param places as `placesSql`
 */
export const withoutRepeats = ({ columns, key, owner = '' }: Table, rows: string, places: string): string => {
  const names = columns.map(({ name }) => ident(name)).join(', ')
  const ofKey = `PARTITION BY ${key.map(ident).join(', ')}`
  return `WITH placed AS (
  SELECT r.*, p.place FROM (${rows}) AS r JOIN ${places} AS p ON p.owner = r.${ident(owner)} AND p.version = r.version
), begun AS (
  SELECT *, lag(until) OVER own AS before_until, last_value(until) OVER whole AS last_until FROM placed
  WINDOW own AS (${ofKey} ORDER BY place),
    whole AS (${ofKey} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  QUALIFY lag(until) OVER own IS DISTINCT FROM version OR lag(row(${names})) OVER own IS DISTINCT FROM row(${names})
), ended AS (
  SELECT * EXCLUDE (until), CASE WHEN lead(true, 1, false) OVER own THEN lead(before_until) OVER own ELSE last_until END AS until
  FROM begun WINDOW own AS (${ofKey} ORDER BY place)
) SELECT ${columns.map(({ name }) => `e.${ident(name)}`).join(', ')}, e.version, e.until, e.until IS NOT DISTINCT FROM l.until AS is_last
FROM ended AS e JOIN ${places} AS l ON l.is_last AND l.owner = e.${ident(owner)}`
}

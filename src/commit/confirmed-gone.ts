/**
 * Companies that are gone, and that a whole listing since has lacked again: such a listing writes nothing of them, but what is
 * older than it does not bring them back, and ends there.
 */

import { isWholeListing } from '../core/last-listings.ts'
import type { PullEntry, VersionFile } from '../core/partition.ts'
import { isListing } from '../core/source-kinds.ts'
import { literal, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { fetchFiles, filesOfTables } from '../lake/files/fetch-tables.ts'
import { inLake } from '../lake/files/layout.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import { goneFiles, type Listed, readTable, versionFacts } from '../lake/views/current-versions.ts'
import { mergedFiles, standInsOf } from '../lake/views/version-chain.ts'
import { versionOrder } from '../lake/views/version-order.ts'
import { listOf, readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { FileFacts } from '../storage/storage.ts'
import { type DatedPartition, type MovedVersion, movedAsOf } from './source-instants.ts'
import { CHECK } from './staged-files.ts'

/**
 * SQL of `internal_id`, `version` of the mark, `as_of`, `is_listing` of the first listing without the company behind each version that
 * came late.
 *
 * @param came SQL of `internal_id`, `version`, `as_of`, `is_listing` of what came
 */
export type ConfirmedGone = (came: string) => string

const instant = (asOf: string): string => `TIMESTAMPTZ ${literal(asOf)}`

const listingsSql = (pulls: readonly PullEntry[]): string =>
  `(VALUES ${pulls
    .map(
      ({ service, search, asOf }) =>
        `(${literal(service)}, ${literal(JSON.stringify(search))}, ${instant(asOf)})`,
    )
    .join(', ')}) AS l(service, search, as_of)`

/** The listings that marked companies: the instant, service and search of each version. */
const marksSql = ({ partitions, merged = [] }: Listed, pulls: readonly PullEntry[]): string => {
  const services = new Map(pulls.map(({ run, service }) => [run, service]))
  const rows = [...merged, ...partitions]
    .filter(({ source }) => isListing(source))
    .map(
      ({ version, asOf, run, source }) =>
        `(${version}, ${instant(asOf)}, ${literal(services.get(run) ?? '')}, ${literal(source.name)})`,
    )
  const none = `(-1, NULL::TIMESTAMPTZ, NULL, NULL)`
  return `(VALUES ${[none, ...rows].join(', ')}) AS m(version, as_of, service, search)`
}

/** The versions that a lake has of companies: `owner`, `version`, `as_of`, `is_listing`; and the companies of them that a listing lacked. */
const knownVersions = (
  lake: string,
  snapshot: Listed,
  lists: readonly VersionFile[],
  marks: string,
  moved: readonly MovedVersion[],
): { readonly sql: string; readonly marked: string } => {
  const of = (files: readonly { readonly path: string }[], condition: string): readonly string[] =>
    files.length === 0
      ? []
      : [
          `SELECT internal_id AS owner, version, as_of, is_listing FROM ${readParquet(pathsSql(files.map(({ path }) => inLake(lake, path))), 'union_by_name = true')} WHERE ${condition}`,
        ]
  const standIns = standInsOf(snapshot, LISTINGS)?.all ?? []
  const [again, others] = [true, false].map((isAgain) =>
    versionFacts(lists.filter(({ kind }) => (kind === 'confirmed') === isAgain)),
  ) as [readonly FileFacts[], readonly FileFacts[]]
  const listed = [
    ...of(others, `version NOT IN (${[-1, ...standIns].join(', ')})`),
    ...of(mergedFiles(snapshot, LISTINGS), 'true'),
  ].join('\nUNION ALL ')
  return {
    sql: [
      `SELECT r.owner, r.version, CASE WHEN r.is_listing THEN coalesce(m.as_of, r.as_of) ELSE ${movedAsOf(moved, 'r')} END AS as_of, r.is_listing
FROM (${listed}) AS r LEFT JOIN ${marks} ON m.version = r.version`,
      ...of(again, 'true'),
    ].join('\nUNION ALL '),
    marked: `SELECT owner FROM (${listed}) WHERE is_listing`,
  }
}

/**
 * @param came partitions that are not committed yet
 * @param moved versions before that turn out to be as of another instant
 * @returns `undefined` where nothing that came is older than a listing
 */
export const confirmedGone = async (
  lake: string,
  root: SnapshotRoot | null,
  came: readonly DatedPartition[],
  moved: readonly MovedVersion[],
): Promise<ConfirmedGone | undefined> => {
  if (!root?.totals.tables.some(({ table }) => table === LISTINGS.name)) return undefined
  const instants = came
    .filter(({ content }) => content === LISTINGS.content)
    .flatMap(({ asOf, sources = [] }) => [asOf, ...sources.map((one) => one.asOf ?? asOf)])
  const pulls = await listOf(lake, root, 'pulls')
  const later = pulls.filter((pull) => isWholeListing(pull) && instants.some((one) => one < pull.asOf))
  if (later.length === 0) return undefined
  const snapshot = await readAllListed(lake, root, ({ contents = [] }) => contents.includes(LISTINGS.content))
  const lists = snapshot.versions.filter(({ table }) => table === LISTINGS.content)
  const files = [
    ...filesOfTables(snapshot, [LISTINGS.name]),
    ...versionFacts(lists),
    ...mergedFiles(snapshot, LISTINGS),
  ]
  await fetchFiles(lake, files, CHECK)
  const gone = readTable(LISTINGS, goneFiles(snapshot, lake, LISTINGS.content), 'with-version')
  const marks = marksSql(snapshot, pulls)
  const known = knownVersions(lake, snapshot, lists, marks, moved)
  const along = `PARTITION BY owner ORDER BY ${versionOrder()}`
  return (rows) => `WITH late AS MATERIALIZED (
  SELECT internal_id AS owner, version, as_of FROM (${rows}) WHERE NOT is_listing AND internal_id IN (${known.marked})
), placed AS (
  SELECT *, lead(as_of) OVER (${along}) AS next,
    last_value(CASE WHEN is_known THEN {'version': version, 'is_listing': is_listing} END IGNORE NULLS)
      OVER (${along} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM (
    SELECT owner, version, as_of, false AS is_listing, false AS is_known FROM late
    UNION ALL SELECT k.*, true FROM (${known.sql}) AS k SEMI JOIN late USING (owner)
  )
)
SELECT v.owner AS internal_id, v.before.version AS version, min(l.as_of) AS as_of, true AS is_listing
FROM placed AS v LEFT JOIN (${gone}) AS g ON g.internal_id = v.owner AND g.version = v.before.version
LEFT JOIN ${marks} ON m.version = v.before.version
JOIN ${listingsSql(later)}
  ON l.service = coalesce(g.service, m.service) AND l.search = coalesce(g.search, m.search)
  AND l.as_of > v.as_of AND l.as_of < coalesce(v.next, 'infinity'::TIMESTAMPTZ)
WHERE NOT v.is_known AND v.before.is_listing GROUP BY v.owner, v.version, v.before.version`
}

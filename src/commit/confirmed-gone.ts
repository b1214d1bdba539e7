/**
 * Companies that are gone, and that a whole listing since has lacked again: such a listing writes nothing of them, but what is
 * older than it does not bring them back.
 */

import { lastListings } from '../core/last-listings.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { fetchTables } from '../lake/files/fetch-tables.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import { goneFiles, readTable } from '../lake/views/current-versions.ts'
import { listOf, readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { DatedPartition } from './source-instants.ts'
import { CHECK } from './staged-files.ts'

/**
 * @param came partitions that are not committed yet
 * @returns SQL of `internal_id`, `version` of the mark and `as_of` of the last listing without the company; `undefined` where
 * nothing that came is older than a listing
 */
export const confirmedGone = async (
  lake: string,
  root: SnapshotRoot | null,
  came: readonly DatedPartition[],
): Promise<string | undefined> => {
  if (!root?.totals.tables.some(({ table }) => table === LISTINGS.name)) return undefined
  const instants = came
    .filter(({ content }) => content === LISTINGS.content)
    .flatMap(({ asOf, sources = [] }) => [asOf, ...sources.map((one) => one.asOf ?? asOf)])
  const pulls = await listOf(lake, root, 'pulls')
  const listings = lastListings(pulls).filter((pull) => instants.some((one) => one < pull.asOf))
  if (listings.length === 0) return undefined
  const snapshot = await readAllListed(lake, root, ({ contents = [] }) => contents.includes(LISTINGS.content))
  await fetchTables(lake, snapshot, [LISTINGS.name], CHECK)
  const values = listings.map(
    ({ service, search, asOf }) =>
      `(${literal(service)}, ${literal(JSON.stringify(search))}, TIMESTAMPTZ ${literal(asOf)})`,
  )
  return `SELECT g.internal_id, g.version, l.as_of
FROM (${readTable(LISTINGS, goneFiles(snapshot, lake, LISTINGS.content), 'with-version')}) AS g
JOIN (VALUES ${values.join(', ')}) AS l(service, search, as_of) ON l.service = g.service AND l.search = g.search`
}

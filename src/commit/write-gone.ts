/** Writes down which companies no search lists any more: a file of `listings`, committed behind all that the run loads. */

import { randomBytes } from 'node:crypto'
import type { PartitionEntry, PullEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import type { Loader } from '../load/loader.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { type FoundGone, nameOfPartition, readCompanies, shownCompanies } from './find-gone.ts'
import { listingEntry } from './listing-entry.ts'

/** Ids as rows: one text, which DuckDB does not parse as SQL. */
const idRows = (ids: readonly bigint[]): string =>
  `SELECT unnest(from_json(${literal(`[${ids.join()}]`)}, '["BIGINT"]')) AS id`

/** When the last listing of the same search that lacked nothing was asked for. */
const lastListed = (pulls: readonly PullEntry[], { search }: FoundGone['listing']): string | undefined =>
  pulls.findLast(
    (pull) =>
      pull.content === LISTINGS.content &&
      JSON.stringify(pull.search) === search &&
      pull.from === undefined &&
      pull.to === undefined &&
      pull.received === pull.announced,
  )?.asOf

const timeOf = (instant: string | undefined): string => (instant === undefined ? 'NULL' : literal(instant))

export interface GoneToWrite {
  readonly lake: string
  readonly run: string
  readonly loader: Loader
  readonly sink: SinkRun
  readonly found: readonly FoundGone[]
}

/**
 * Writes a file for each listing, in the state of a snapshot: of companies that another run has loaded since nothing is
 * said. Its name is new each time, because an earlier attempt may have left one.
 *
 * @param root the snapshot that the commit will build on
 */
export const writeGone = async (
  { lake, run, loader, sink, found }: GoneToWrite,
  root: SnapshotRoot,
): Promise<readonly PartitionEntry[]> => {
  const snapshot = await readCompanies(lake, root)
  const pulls = await listOf(lake, root, 'pulls')
  const entries: PartitionEntry[] = []
  for (const { listing, ids, known } of found) {
    const heard = snapshot.partitions.flatMap((one) =>
      known.has(nameOfPartition(one)) ? [[one.version, timeOf(one.committed.time)] as const] : [],
    )
    const rows = `SELECT s.id AS internal_id, ${literal(listing.service)} AS service, ${literal(listing.search)} AS search,
  greatest(h.time, ${timeOf(lastListed(pulls, listing))}::TIMESTAMPTZ) AS seen,
  ${literal(listing.asOf)}::TIMESTAMPTZ AS gone_since
FROM (${shownCompanies(snapshot, lake)}) AS s SEMI JOIN (${idRows(ids)}) AS g ON g.id = s.id
JOIN (SELECT unnest([${heard.map(([version]) => version).join(', ')}]::BIGINT[]) AS version,
  unnest([${heard.map(([, time]) => time).join(', ')}]::TIMESTAMPTZ[]) AS time) AS h ON h.version = s.version
ORDER BY internal_id`
    const id = `${LISTINGS.name}-${randomBytes(8).toString('hex')}`
    const { files, rows: written } = await loader.withRows(rows, (gone) =>
      sink.write(id, LISTINGS.name, gone),
    )
    if (written > 0) entries.push({ ...listingEntry(run, listing.search, files), id })
  }
  return entries
}

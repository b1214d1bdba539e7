/**
 * The companies that the searches of a run no longer list, from being found to being written down: a file of `listings`,
 * committed behind all that the run loads.
 */

import { randomBytes } from 'node:crypto'
import { lastListings } from '../core/last-listings.ts'
import type { PartitionEntry } from '../core/partition.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import { nameOfPartition } from '../manifest/form/sources.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { MAX_GONE } from '../options/lake-jobs.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import { type CommitRule, withWritten } from './commit-rule.ts'
import type { GoneCompanies } from './commit-summary.ts'
import { type FoundGone, findGone, type Listing, shownCompanies } from './find-gone.ts'
import { listingEntry, markedIn } from './listing-entry.ts'
import { readShown } from './shown-rows.ts'
import type { StagedRun } from './staged-files.ts'

/** Ids as rows: one text, which DuckDB does not parse as SQL. */
const idRows = (ids: readonly bigint[]): string =>
  `SELECT unnest(from_json(${literal(`[${ids.join()}]`)}, '["BIGINT"]')) AS id`

const timeOf = (instant: string | undefined): string => (instant === undefined ? 'NULL' : literal(instant))

/**
 * Writes a file for each listing, in the state of a snapshot: of companies that another run has loaded since nothing is
 * said. Its name is new each time, because an earlier attempt may have left one.
 *
 * @param root the snapshot that the commit will build on
 */
const writeGone = async (
  { lake, run, loader, sink }: StagedRun,
  found: readonly FoundGone[],
  root: SnapshotRoot,
): Promise<readonly PartitionEntry[]> => {
  const snapshot = await readShown(lake, root, LISTINGS.content)
  const before = lastListings(await listOf(lake, root, 'pulls'))
  const entries: PartitionEntry[] = []
  for (const { listing, ids, asOf, known } of found) {
    const seen = snapshot.partitions.flatMap((one) =>
      known.has(nameOfPartition(one)) ? [[one.version, timeOf(one.committed.time)] as const] : [],
    )
    const last = before.find(({ search }) => JSON.stringify(search) === listing.search)?.asOf
    const rows = `SELECT s.id AS internal_id, ${literal(listing.service)} AS service, ${literal(listing.search)} AS search,
  greatest(h.time, ${timeOf(last)}::TIMESTAMPTZ) AS seen,
  ${literal(listing.asOf)}::TIMESTAMPTZ AS gone_since
FROM (${shownCompanies(snapshot, lake)}) AS s SEMI JOIN (${idRows(ids)}) AS g ON g.id = s.id
JOIN (SELECT unnest([${seen.map(([version]) => version).join(', ')}]::BIGINT[]) AS version,
  unnest([${seen.map(([, time]) => time).join(', ')}]::TIMESTAMPTZ[]) AS time) AS h ON h.version = s.version
ORDER BY internal_id`
    const id = `${LISTINGS.name}-${randomBytes(8).toString('hex')}`
    const { files, rows: written } = await loader.withRows(rows, (gone) =>
      sink.write(id, LISTINGS.name, gone),
    )
    if (written > 0) entries.push({ ...listingEntry(run, listing.search, asOf, files), id })
  }
  return entries
}

export interface GoneOptions {
  /** Listings of all companies of its searches. */
  readonly listings: readonly Listing[]
  /** Most companies of a search that its listing may say are gone. @default 2% */
  readonly maxGone?: QuarantineLimit | undefined
  readonly signal?: AbortSignal | undefined
}

/** Marks the companies that listings of a run lack. The service is asked once, before the run is committed. */
export const markGone = (
  run: StagedRun,
  { listings, maxGone = MAX_GONE.default.value, signal }: GoneOptions,
): CommitRule => {
  let found: FoundGone[] | undefined
  const unmarked: GoneCompanies[] = []
  let marked: readonly GoneCompanies[] = []
  return {
    look: async (root) => {
      if (found === undefined) {
        found = []
        for (const listing of listings) {
          const outcome = await findGone(run, root, listing, maxGone, signal)
          if (outcome === undefined) continue
          if ('ids' in outcome) found.push(outcome)
          else unmarked.push(outcome)
        }
      }
      return found.length > 0 ? 'adds' : undefined
    },
    add: async (next) => {
      if (next.root === null || found === undefined || found.length === 0) return next
      const entries = await writeGone(run, found, next.root)
      marked = markedIn(entries)
      return withWritten(run, next, entries)
    },
    report: () => {
      const gone = [...marked, ...unmarked]
      return gone.length > 0 ? { gone } : {}
    },
  }
}

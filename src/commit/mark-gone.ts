/**
 * The companies that the searches of a run no longer list, from being found to being written down: a file of `listings`,
 * committed behind all that the run loads.
 */

import { randomBytes } from 'node:crypto'
import type { FileEntry, PartitionEntry, PullEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import type { Loader } from '../load/loader.ts'
import { nameOfPartition } from '../manifest/form/sources.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { MAX_GONE } from '../options/lake-jobs.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import { isWholeListing } from './confirmed-gone.ts'
import {
  type FoundGone,
  findGone,
  type GoneCompanies,
  type PartialListing,
  readCompanies,
  shownCompanies,
  type WholeListing,
} from './find-gone.ts'

/** Ids as rows: one text, which DuckDB does not parse as SQL. */
const idRows = (ids: readonly bigint[]): string =>
  `SELECT unnest(from_json(${literal(`[${ids.join()}]`)}, '["BIGINT"]')) AS id`

/** When the last listing of the same search that lacked nothing was asked for. */
const lastListed = (pulls: readonly PullEntry[], { search }: FoundGone['listing']): string | undefined =>
  pulls.findLast((pull) => isWholeListing(pull) && JSON.stringify(pull.search) === search)?.asOf

const timeOf = (instant: string | undefined): string => (instant === undefined ? 'NULL' : literal(instant))

interface RunWithListings {
  readonly lake: string
  readonly run: string
  /** The partitions that it has loaded. */
  readonly partitions: readonly PartitionEntry[]
  readonly loader: Loader
  readonly sink: SinkRun
}

/** The manifest's entry of companies that a listing no longer had: a partition without records. @param name the search, in words */
export const listingEntry = (
  run: string,
  name: string,
  asOf: string,
  files: readonly FileEntry[],
): PartitionEntry => ({
  id: LISTINGS.name,
  run,
  content: LISTINGS.content,
  source: {
    ...{ kind: 'listing', name, bytes: 0, sha256: files[0]?.sha256 ?? '' },
    ...{ block: 0, firstLine: 1, offset: 0, last: true },
  },
  asOf,
  range: { field: 'ContentUpdatedAt', requested: null, observed: null },
  counts: {
    ...{ lines: 0, records: 0, quarantined: 0 },
    rows: { [LISTINGS.name]: files.reduce((sum, { rows }) => sum + rows, 0) },
  },
  files,
  drift: [],
})

/**
 * Writes a file for each listing, in the state of a snapshot: of companies that another run has loaded since nothing is
 * said. Its name is new each time, because an earlier attempt may have left one.
 *
 * @param root the snapshot that the commit will build on
 */
const writeGone = async (
  { lake, run, loader, sink }: RunWithListings,
  found: readonly FoundGone[],
  root: SnapshotRoot,
): Promise<readonly PartitionEntry[]> => {
  const snapshot = await readCompanies(lake, root)
  const pulls = await listOf(lake, root, 'pulls')
  const entries: PartitionEntry[] = []
  for (const { listing, ids, asOf, known } of found) {
    const seen = snapshot.partitions.flatMap((one) =>
      known.has(nameOfPartition(one)) ? [[one.version, timeOf(one.committed.time)] as const] : [],
    )
    const rows = `SELECT s.id AS internal_id, ${literal(listing.service)} AS service, ${literal(listing.search)} AS search,
  greatest(h.time, ${timeOf(lastListed(pulls, listing))}::TIMESTAMPTZ) AS seen,
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

interface GoneOptions {
  readonly listings?: readonly (WholeListing | PartialListing)[] | undefined
  readonly maxGone?: QuarantineLimit | undefined
  readonly signal?: AbortSignal | undefined
}

export class GoneInRun {
  readonly #run: RunWithListings
  readonly #options: GoneOptions
  readonly #found: FoundGone[] = []
  readonly #unmarked: GoneCompanies[] = []
  #marked: readonly GoneCompanies[] = []

  constructor(run: RunWithListings, options: GoneOptions) {
    this.#run = run
    this.#options = options
  }

  /** Asks the service for what the listings lack. @param root the snapshot that the lake shows */
  async find(root: SnapshotRoot | null): Promise<void> {
    const { listings = [], maxGone = MAX_GONE.default.value, signal } = this.#options
    const { lake, run, partitions, loader } = this.#run
    for (const listing of listings) {
      const staged = { lake, run, partitions, rows: loader.rows }
      const outcome = await findGone(staged, root, listing, maxGone, signal)
      if (outcome === undefined) continue
      if ('ids' in outcome) this.#found.push(outcome)
      else this.#unmarked.push(outcome)
    }
  }

  /** Whether a listing lacked companies that are to be marked. */
  get hasFound(): boolean {
    return this.#found.length > 0
  }

  /** Writes down what was found, as far as it still holds in a snapshot. @returns partitions whose files are in place */
  async write(root: SnapshotRoot | null): Promise<readonly PartitionEntry[]> {
    if (root === null || this.#found.length === 0) return []
    const entries = await writeGone(this.#run, this.#found, root)
    await this.#run.sink.commit(entries.flatMap(({ files }) => files))
    this.#marked = entries.map(({ source, files }) => ({
      search: source.name,
      marked: files.reduce((sum, { rows }) => sum + rows, 0),
    }))
    return entries
  }

  /** For the report of the run; empty where no listing lacked a company. */
  summary(): { readonly gone?: readonly GoneCompanies[] } {
    const gone = [...this.#marked, ...this.#unmarked]
    return gone.length > 0 ? { gone } : {}
  }
}

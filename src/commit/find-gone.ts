/**
 * Finds the companies of a lake that a whole listing lacked and no search lists any more, by what a job knows of all companies
 * of its search. Marks nothing.
 */

import { messageOf, ToolkitError } from '../core/errors.ts'
import type { PullEntry, Snapshot } from '../core/partition.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import { readTable } from '../lake/views/current-versions.ts'
import { nameOfPartition } from '../manifest/form/sources.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import type { GoneCompanies } from './commit-summary.ts'
import { excessText, withinLimit } from './quarantine-limit.ts'
import { readShown, shownRows } from './shown-rows.ts'
import { type StagedRun, stagedFiles, tableNamed } from './staged-files.ts'

/** Everything that a search has came, nothing was left out. */
export interface WholeListing {
  readonly kind: 'whole'
  /** The search as the manifest keeps it, as JSON. */
  readonly search: string
  /** Origin of the service. */
  readonly service: string
  /** When the service was asked first, by its own clock; ISO 8601 in UTC. */
  readonly asOf: string
  /** SQL over the columns of `companies`: those that the search means. */
  readonly scope: string
  /** Companies of the scope that the listing lacks, and how many the lake has of it. @default what the run did not load */
  readonly lacking?: { readonly ids: readonly bigint[]; readonly held: number } | undefined
  /**
   * The companies, of those given, that the service still lists, in this search or in another one of the lake: asked for by
   * their ids. And as of when its last answer is.
   */
  readonly stillListed: (
    ids: readonly bigint[],
    pulls: readonly PullEntry[],
  ) => Promise<{ readonly listed: ReadonlySet<bigint>; readonly asOf: string }>
}

/** Not all came. */
interface PartialListing {
  readonly kind: 'partial'
  readonly search: string
  readonly reason: string
}

/** Whether all companies of a search came. */
export type Listing = WholeListing | PartialListing

/** Companies that a listing lacks, before they are written down. */
export interface FoundGone {
  readonly listing: WholeListing
  readonly ids: readonly bigint[]
  /** As of when the service said so. */
  readonly asOf: string
  /** The partitions in which they stand: of a company that stands in a later one, another run has heard since. */
  readonly known: ReadonlySet<string>
}

const COMPANIES = tableNamed(LISTINGS.content)

/** `id` and `version` of each company that is shown; `meant`: whether a condition holds for it. */
export const shownCompanies = (snapshot: Snapshot, lake: string, condition = 'true'): string =>
  `SELECT internal_id AS id, version, coalesce(${condition}, false) AS meant FROM (${shownRows(COMPANIES, snapshot, lake)})`

/** Companies that the lake shows in the scope of a listing, and those of them that the run has not loaded. */
const lackingOf = async (
  staged: StagedRun,
  snapshot: Snapshot,
  { scope }: WholeListing,
  limit: QuarantineLimit,
): Promise<{ readonly ids: readonly bigint[]; readonly held: number; readonly lacking: number }> => {
  const files = await stagedFiles(staged, COMPANIES.name)
  const loaded = `SELECT internal_id AS id FROM (${readTable(COMPANIES, files)})`
  const meant = `(SELECT id FROM (${shownCompanies(snapshot, staged.lake, scope)}) WHERE meant)`
  const [counted] = await staged.loader.rows(`WITH meant AS MATERIALIZED ${meant}
SELECT (SELECT count(*) FROM meant) AS held, (SELECT count(*) FROM meant ANTI JOIN (${loaded}) AS l USING (id)) AS lacking`)
  const [held, lacking] = [Number(counted?.held), Number(counted?.lacking)]
  if (lacking === 0 || !withinLimit(limit, lacking, held)) return { ids: [], held, lacking }
  const rows = await staged.loader.rows(
    `SELECT id::VARCHAR AS id FROM ${meant} ANTI JOIN (${loaded}) AS l USING (id) ORDER BY id`,
  )
  return { ids: rows.map(({ id }) => BigInt(String(id))), held, lacking }
}

/**
 * @returns what was found; or why nothing is marked, `undefined` where nothing is lacking
 * @throws {ToolkitError} INTERRUPTED, and those of the lake's storage
 */
export const findGone = async (
  staged: StagedRun,
  root: SnapshotRoot | null,
  listing: Listing,
  limit: QuarantineLimit,
  signal: AbortSignal | undefined,
): Promise<FoundGone | GoneCompanies | undefined> => {
  const { search } = listing
  // A lake without companies has none that could be gone.
  if (!root?.totals.tables.some(({ table }) => table === COMPANIES.name)) return undefined
  if (listing.kind === 'partial') return { search, marked: 0, reason: listing.reason }
  const snapshot = await readShown(staged.lake, root, LISTINGS.content)
  const known = new Set(snapshot.partitions.map(nameOfPartition))
  const found = listing.lacking
    ? { ...listing.lacking, lacking: listing.lacking.ids.length }
    : await lackingOf(staged, snapshot, listing, limit)
  const { held, lacking, ids } = found
  if (lacking === 0) return undefined
  if (!withinLimit(limit, lacking, held)) {
    const what = 'companies of the search were not listed'
    const reason = `${excessText(limit, lacking, held, what)} of --max-gone`
    return { search, marked: 0, reason }
  }
  const pulls = await listOf(staged.lake, root, 'pulls')
  // This service may not know another service's companies.
  const elsewhere = pulls.find(
    ({ content, service }) => content === LISTINGS.content && service !== listing.service,
  )
  if (elsewhere !== undefined) {
    const reason = `the lake has companies of ${elsewhere.service} too, of which ${listing.service} may know nothing`
    return { search, marked: 0, reason }
  }
  try {
    const { listed, asOf } = await listing.stillListed(ids, pulls)
    const gone = ids.filter((id) => !listed.has(id))
    return gone.length === 0 ? undefined : { listing, ids: gone, asOf, known }
  } catch (error) {
    signal?.throwIfAborted()
    // The load is complete without it: the next whole pull finds them again.
    if (error instanceof ToolkitError && error.code !== 'INTERRUPTED')
      return { search, marked: 0, reason: `the service could not be asked for them: ${messageOf(error)}` }
    throw error
  }
}

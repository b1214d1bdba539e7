/** A snapshot in a few numbers, for `status`. */

import type { Snapshot, SnapshotHead } from '../../core/partition.ts'
import { type ContentTotals, type TableTotals, type Totals, totalsOf } from '../form/totals.ts'
import { countEntries, type Wanted } from '../parts/parts.ts'
import { type Difference, type LatestPull, latestPulls, standingDifferences } from './latest-pulls.ts'
import { listOf, type SnapshotRoot } from './snapshot-root.ts'

export interface SnapshotSummary {
  readonly snapshot: number
  readonly run: string
  readonly time: string
  readonly runs: number
  readonly partitions: number
  /** Partitions whose rows a compaction has put together with others; not among `partitions`. */
  readonly merged: number
  readonly bytes: number
  readonly contents: readonly ContentTotals[]
  readonly tables: readonly TableTotals[]
  /** The newest pull of each search. */
  readonly pulls: readonly LatestPull[]
  /** Where less or more came than was announced. */
  readonly differences: readonly Difference[]
}

const summaryOf = (
  { snapshot, run, time }: SnapshotHead,
  { runs, contents, tables }: Totals,
  counts: { readonly partitions: number; readonly merged: number },
  listed: Pick<Snapshot, 'partitions' | 'merged' | 'pulls'>,
): SnapshotSummary => ({
  ...{ snapshot, run, time, runs },
  partitions: counts.partitions,
  merged: counts.merged,
  bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
  ...{ contents, tables },
  pulls: latestPulls(listed),
  differences: standingDifferences(listed),
})

/**
 * Totals by content (what was loaded, also what a compaction has merged: a company loaded twice counts twice) and by
 * table (the rows and files that there are), both by name.
 */
export const summariseSnapshot = (snapshot: Snapshot): SnapshotSummary => {
  const counts = { partitions: snapshot.partitions.length, merged: snapshot.merged?.length ?? 0 }
  return summaryOf(snapshot, totalsOf(snapshot), counts, snapshot)
}

/** The same of a root; opens the parts with pulls, and with sources of which not all came that was announced. */
export const summariseRoot = async (lake: string, root: SnapshotRoot): Promise<SnapshotSummary> => {
  const { partitions, merged } = root.lists
  const differing: Wanted = (part) => (part.differing ?? 0) > 0
  return summaryOf(
    root,
    root.totals,
    { partitions: countEntries(partitions), merged: countEntries(merged) },
    {
      partitions: await listOf(lake, root, 'partitions', differing),
      merged: await listOf(lake, root, 'merged', differing),
      pulls: await listOf(lake, root, 'pulls'),
    },
  )
}

/** A run that is in the lake already: what the snapshot that shows it says of it. */

import type { RuleFindings } from '../commit/commit-summary.ts'
import { unloadedOf } from '../commit/commit-summary.ts'
import { markedIn } from '../commit/listing-entry.ts'
import type { PartitionEntry, PullEntry, SnapshotHead } from '../core/partition.ts'
import { mayHoldRun } from '../manifest/form/part-summary.ts'
import { isLoaded } from '../manifest/form/sources.ts'
import { readJournal } from '../manifest/runs/journal.ts'
import { headOf, readAllListed } from '../manifest/snapshots/snapshot-root.ts'
import { ensureRecord, readRoot } from '../manifest/snapshots/snapshots.ts'
import { type LoadSummary, withViews } from './commit-loaded.ts'
import type { RunScope } from './with-run.ts'
import type { RunEvent } from './work/progress.ts'

/** A run in the snapshot that shows it. What its rules have found the lake knows of the marks of companies alone. */
export interface RunInLake extends Pick<RuleFindings, 'gone'> {
  readonly snapshot: SnapshotHead
  /** Sources that records came with. */
  readonly partitions: readonly PartitionEntry[]
  /** An entry for each pull or sync among its jobs, in their order. */
  readonly pulls: readonly PullEntry[]
}

/** @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const readRunInLake = async (lake: string, run: string, number: number): Promise<RunInLake> => {
  const root = await readRoot(lake, number)
  const { partitions, pulls = [] } = await readAllListed(lake, root, mayHoldRun(run))
  const own = partitions.filter((one) => one.run === run)
  const gone = markedIn(own)
  return {
    snapshot: headOf(root),
    partitions: own.filter(isLoaded),
    pulls: pulls.filter((one) => one.run === run),
    ...(gone.length > 0 && { gone }),
  }
}

/**
 * The summary of a run that an earlier call had committed before it was stopped: nothing of it is loaded again.
 *
 * @param number of the snapshot that shows it
 * @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED, RUN_NOT_RESUMABLE
 */
export const committedBefore = async (
  { lake, run }: Pick<RunScope, 'lake' | 'run'>,
  number: number,
  onEvent?: (event: RunEvent) => void,
): Promise<LoadSummary> => {
  // The process that committed it may have been stopped before it was done with the rest.
  await ensureRecord(lake, number)
  onEvent?.({ kind: 'already', run, snapshot: number })
  const { pulls, ...found } = await readRunInLake(lake, run, number)
  const unloaded = unloadedOf((await readJournal(lake, run)).result?.sources ?? [])
  return withViews(lake, { run, ...found, ...unloaded, already: { pulls } })
}

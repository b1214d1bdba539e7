/** What a snapshot says of a run, for a report by somebody who had no part in its commit. */

import type { PartitionEntry, PullEntry, SnapshotHead } from '../core/partition.ts'
import { mayHoldRun } from '../manifest/form/part-summary.ts'
import { readFinishedWork } from '../manifest/runs/journal.ts'
import { headOf, readAllListed } from '../manifest/snapshots/snapshot-root.ts'
import { ensureRecord, readRoot } from '../manifest/snapshots/snapshots.ts'
import { type LoadSummary, leftOutOf, skippedOf, withViews } from './commit-loaded.ts'
import type { RunScope } from './with-run.ts'
import type { RunEvent } from './work/progress.ts'

/** A run in the snapshot that shows it. */
export interface RunInLake {
  readonly snapshot: SnapshotHead
  readonly partitions: readonly PartitionEntry[]
  /** One for each pull or sync among its jobs, in their order. */
  readonly pulls: readonly PullEntry[]
}

/** @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const readRunInLake = async (lake: string, run: string, number: number): Promise<RunInLake> => {
  const root = await readRoot(lake, number)
  const { partitions, pulls = [] } = await readAllListed(lake, root, mayHoldRun(run))
  return {
    snapshot: headOf(root),
    partitions: partitions.filter((one) => one.run === run),
    pulls: pulls.filter((one) => one.run === run),
  }
}

/**
 * What a run has done that an earlier call had committed before it was stopped: nothing of it is loaded again.
 *
 * @param number of the snapshot that shows it
 * @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED, RUN_NOT_RESUMABLE
 */
export const committedBefore = async (
  { lake, run }: Pick<RunScope, 'lake' | 'run'>,
  number: number,
  onEvent?: (event: RunEvent) => void,
): Promise<LoadSummary> => {
  // Whoever committed it may have been stopped before it was done with the rest.
  await ensureRecord(lake, number)
  onEvent?.({ kind: 'already', run, snapshot: number })
  const { snapshot, partitions, pulls } = await readRunInLake(lake, run, number)
  const units = (await readFinishedWork(lake, run))?.units ?? []
  const lists = { partitions, skipped: skippedOf(units), leftOut: leftOutOf(units) }
  return withViews(lake, { run, snapshot, ...lists, already: { pulls } })
}

/** What a snapshot says of a run, for a report by somebody who had no part in its commit. */

import type { PartitionEntry, PullEntry, SnapshotHead } from '../../core/partition.ts'
import { mayHoldRun } from '../../manifest/part-summary.ts'
import { headOf, readAllListed } from '../../manifest/snapshot-root.ts'
import { readRoot } from '../../manifest/snapshots.ts'
import { windowsOf } from '../pull/plan-pull.ts'
import type { PulledWindow } from '../pull/pull.ts'
import type { PullPlan } from '../pull/pull-plan.ts'

/** A run in the snapshot that shows it. */
export interface RunInLake {
  readonly snapshot: SnapshotHead
  readonly partitions: readonly PartitionEntry[]
  readonly pull: PullEntry | undefined
}

/** @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const readRunInLake = async (lake: string, run: string, number: number): Promise<RunInLake> => {
  const root = await readRoot(lake, number)
  const { partitions, pulls = [] } = await readAllListed(lake, root, mayHoldRun(run))
  return {
    snapshot: headOf(root),
    partitions: partitions.filter((one) => one.run === run),
    pull: pulls.find((one) => one.run === run),
  }
}

/** Records that its windows brought. */
export const receivedIn = ({ partitions }: Pick<RunInLake, 'partitions'>): number => {
  const windows = new Map(partitions.map(({ source }) => [source.name, source.window?.received ?? 0]))
  return [...windows.values()].reduce((sum, records) => sum + records, 0)
}

/** Its windows in the plan's order, as they were pulled. */
export const pulledWindows = (
  { partitions }: Pick<RunInLake, 'partitions'>,
  content: PullEntry['content'],
  plan: PullPlan,
): readonly PulledWindow[] => {
  const windows = new Map(partitions.map(({ source }) => [source.name, source.window]))
  return windowsOf(content, plan).map(({ name }, at) => {
    const { announced = 0, received = 0, pages = 0 } = windows.get(name) ?? {}
    return { name, planned: plan.windows[at]?.announced ?? 0, announced, received, pages }
  })
}

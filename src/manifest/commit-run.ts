/** Shows a run to readers: all of it at once, in the next snapshot. */

import type { FileEntry, PartitionEntry, PullEntry, Snapshot } from '../core/partition.ts'
import { DriftBudget } from '../core/unknown-names.ts'
import { type CommitAttempts, checkPartitions, commitWithRetries } from './commit-with-retries.ts'
import { confirmFiles, discardFiles } from './confirm-files.ts'
import { findCommit } from './find-commit.ts'
import { splitLoaded } from './loaded-sources.ts'
import { assertOwner, type RunLease } from './run-lease.ts'
import { createSnapshot, ensureRecord, newestSnapshot } from './snapshots.ts'

export interface CommitRequest extends CommitAttempts {
  /** The run, owned by the caller; its folder stays until `removeRun`. */
  readonly lease: RunLease
  readonly pipeline: string
  /** Name and version of the tool. */
  readonly tool: string
  /** Their files stand in their places already: the sink put them there. */
  readonly partitions: readonly PartitionEntry[]
  /** Files that belong to the run, not to one partition. They go in only together with a partition. */
  readonly runFiles: readonly FileEntry[]
  /** Pulls that the run has done. They are committed also without a partition: "since last" continues from them. */
  readonly pulls?: readonly PullEntry[]
  /** Names in the drift of the snapshot that the contract does not know. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Commits sources that the lake holds already once more. @default false */
  readonly again?: boolean
  /** Called before each attempt with the snapshot it builds on, `null` before the first; what it throws ends the commit. */
  readonly beforeTry?: (newest: Snapshot | null) => Promise<void>
  readonly now: () => Date
}

/** `dropped`: partitions left out because the lake holds their source, or an earlier one of the run is equal. */
export type CommitOutcome =
  | { readonly kind: 'committed'; readonly snapshot: Snapshot; readonly dropped: readonly PartitionEntry[] }
  /** An earlier attempt had committed the run and then stopped. */
  | { readonly kind: 'already'; readonly snapshot: Snapshot; readonly dropped: readonly PartitionEntry[] }
  /** Every partition was dropped and there was no pull: no snapshot is made. */
  | { readonly kind: 'nothing'; readonly dropped: readonly PartitionEntry[] }

const filesOf = (partitions: readonly PartitionEntry[]): FileEntry[] =>
  partitions.flatMap(({ files }) => files)

const checkRequest = ({ lease, partitions, pulls = [] }: CommitRequest): void => {
  for (const { run } of pulls)
    if (run !== lease.run) throw new RangeError(`Cannot commit a pull of run "${run}" with "${lease.run}"`)
  checkPartitions(lease, partitions)
}

/** What stands in the lake stays as it is; a run adds names to its drift as long as there is room. */
const withBoundDrift = (
  newest: Snapshot | null,
  kept: readonly PartitionEntry[],
  maxNames: number | undefined,
): readonly PartitionEntry[] => {
  const budget = new DriftBudget(maxNames)
  for (const { drift } of [...(newest?.merged ?? []), ...(newest?.partitions ?? [])]) budget.add(drift)
  return kept.map((partition) => ({ ...partition, drift: budget.bound(partition.drift) }))
}

const nextSnapshot = (
  { lease: { run }, pipeline, tool, now, pulls = [], maxUnknownNames }: CommitRequest,
  newest: Snapshot | null,
  kept: readonly PartitionEntry[],
  runFiles: readonly FileEntry[],
): Snapshot => ({
  format: 1,
  snapshot: (newest?.snapshot ?? 0) + 1,
  parent: newest?.snapshot ?? null,
  run,
  pipeline,
  tool,
  time: now().toISOString(),
  partitions: [...(newest?.partitions ?? []), ...withBoundDrift(newest, kept, maxUnknownNames)],
  files: [...(newest?.files ?? []), ...runFiles.map((file) => ({ ...file, run }))],
  ...((newest?.pulls !== undefined || pulls.length > 0) && { pulls: [...(newest?.pulls ?? []), ...pulls] }),
  ...(newest?.merged && { merged: newest.merged }),
})

const droppedOf = (snapshot: Snapshot, { lease, partitions }: CommitRequest): readonly PartitionEntry[] => {
  const shown = new Set(snapshot.partitions.filter(({ run }) => run === lease.run).map(({ id }) => id))
  return partitions.filter(({ id }) => !shown.has(id))
}

/** One attempt on the newest snapshot; gives that one's number when another run was first. */
const tryCommit = async (request: CommitRequest, base: number): Promise<CommitOutcome | number> => {
  const { lease, partitions, pulls = [], again = false } = request
  const { lake, run } = lease
  await assertOwner(lease)
  const newest = await newestSnapshot(lake)
  const earlier = await findCommit(lake, run, base, newest)
  if (earlier) {
    await ensureRecord(lake, earlier.snapshot)
    return { kind: 'already', snapshot: earlier, dropped: droppedOf(earlier, request) }
  }
  const { kept, dropped } = again ? { kept: partitions, dropped: [] } : splitLoaded(newest, partitions)
  const [runFiles, unused] = kept.length > 0 ? [request.runFiles, []] : [[], request.runFiles]
  if (kept.length === 0 && pulls.length === 0) {
    await discardFiles(lake, [...filesOf(dropped), ...unused])
    return { kind: 'nothing', dropped }
  }
  await request.beforeTry?.(newest)
  await confirmFiles(lake, [...filesOf(kept), ...runFiles])
  // The record of every snapshot below the newest is there: a missing one is damage, not a commit on its way.
  if (newest) await ensureRecord(lake, newest.snapshot)
  const snapshot = nextSnapshot(request, newest, kept, runFiles)
  if (!(await createSnapshot(lake, snapshot))) return newest?.snapshot ?? 0
  await ensureRecord(lake, snapshot.snapshot)
  await discardFiles(lake, [...filesOf(dropped), ...unused])
  return { kind: 'committed', snapshot, dropped }
}

/**
 * Lists the files of a run in a new snapshot. Can be called again after a crash at any
 * point, and by several runs of one lake at once: a run that finds another was first builds on its snapshot.
 *
 * @throws {ToolkitError} `COMMIT_CONFLICT`, `RUN_NOT_FOUND`, `RUN_LIVE`, `RUN_NOT_RESUMABLE`,
 *   `SNAPSHOT_DAMAGED`, `DISK_FULL`, `WRITE_FAILED`
 * @throws {RangeError} when the counts of a partition do not add up or it is another run's
 */
export const commitRun = async (request: CommitRequest): Promise<CommitOutcome> => {
  checkRequest(request)
  return commitWithRetries('run', request, (base) => tryCommit(request, base))
}

/**
 * Shows a compaction to readers: its partitions take the place of those that it has put together. What other runs
 * have committed meanwhile stays as it is and counts as later.
 */

import { ToolkitError } from '../core/errors.ts'
import type { PartitionEntry, Snapshot } from '../core/partition.ts'
import { DriftBudget } from '../core/unknown-names.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import type { CommitRequest } from './commit-run.ts'
import { checkPartitions, commitWithRetries } from './commit-with-retries.ts'
import { confirmFiles } from './confirm-files.ts'
import { findCommit } from './find-commit.ts'
import { assertOwner } from './run-lease.ts'
import { createSnapshot, ensureRecord, newestSnapshot } from './snapshots.ts'

export interface CompactCommitRequest
  extends Pick<
    CommitRequest,
    'lease' | 'tool' | 'partitions' | 'runFiles' | 'now' | 'random' | 'maxAttempts' | 'signal'
  > {
  /** The snapshot that was compacted: all its partitions and all its runs' files are replaced. */
  readonly base: Snapshot
}

const nameOf = ({ run, id }: Pick<PartitionEntry, 'run' | 'id'>): string => `${run} ${id}`

/** A partition whose rows stand in another one now: of its files those of the quarantine are left. */
const mergedPartition = (partition: PartitionEntry): PartitionEntry => ({
  ...partition,
  counts: { ...partition.counts, rows: {} },
  files: partition.files.filter(({ table }) => table === QUARANTINE.name),
})

/**
 * All of what is merged, its drift within the bounds: an older release may have listed any number of names, and
 * a snapshot repeats what the one before it says.
 */
const withBoundDrift = (partitions: readonly PartitionEntry[]): PartitionEntry[] => {
  const budget = new DriftBudget()
  return partitions.map((partition) => ({ ...partition, drift: budget.bound(partition.drift) }))
}

/** What a compaction merges for good: a compaction merged again has recorded its own partitions before. */
const mergedOf = (base: Snapshot): PartitionEntry[] =>
  base.partitions.filter(({ source }) => source.kind !== 'compaction').map(mergedPartition)

const conflict = (run: string, lost: string): ToolkitError =>
  new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot commit compaction "${run}": partition "${lost}" is gone, another compaction was first`,
    { run, partition: lost },
  )

/**
 * The next snapshot. Its partitions: the compacted ones, then those that came meanwhile.
 *
 * @throws {ToolkitError} `COMMIT_CONFLICT` when a partition that was merged is gone from the newest
 */
export const compactedSnapshot = (
  request: Pick<CompactCommitRequest, 'lease' | 'tool' | 'partitions' | 'runFiles' | 'now' | 'base'>,
  newest: Snapshot,
): Snapshot => {
  const { lease, tool, partitions, runFiles, now, base } = request
  const standing = new Set(newest.partitions.map(nameOf))
  const lost = base.partitions.find((one) => !standing.has(nameOf(one)))
  if (lost) throw conflict(lease.run, lost.id)
  const replaced = new Set(base.partitions.map(nameOf))
  const replacedFiles = new Set(base.files.map(({ path }) => path))
  return {
    format: 1,
    snapshot: newest.snapshot + 1,
    parent: newest.snapshot,
    run: lease.run,
    pipeline: 'compact',
    tool,
    time: now().toISOString(),
    partitions: [...partitions, ...newest.partitions.filter((one) => !replaced.has(nameOf(one)))],
    files: [
      ...runFiles.map((file) => ({ ...file, run: lease.run })),
      ...newest.files.filter(({ path }) => !replacedFiles.has(path)),
    ],
    ...(newest.pulls && { pulls: newest.pulls }),
    merged: withBoundDrift([...(newest.merged ?? []), ...mergedOf(base)]),
  }
}

/** One attempt on the newest snapshot; gives that one's number when another run was first. */
const tryCommit = async (request: CompactCommitRequest, from: number): Promise<Snapshot | number> => {
  const { lease, partitions, runFiles, base } = request
  const { lake, run } = lease
  await assertOwner(lease)
  const newest = (await newestSnapshot(lake)) ?? base
  const earlier = await findCommit(lake, run, from, newest)
  if (earlier) {
    await ensureRecord(lake, earlier.snapshot)
    return earlier
  }
  const snapshot = compactedSnapshot(request, newest)
  await confirmFiles(lake, [...partitions.flatMap(({ files }) => files), ...runFiles])
  await ensureRecord(lake, newest.snapshot)
  if (!(await createSnapshot(lake, snapshot))) return newest.snapshot
  await ensureRecord(lake, snapshot.snapshot)
  return snapshot
}

/**
 * Lists the files of a compaction in a new snapshot, in place of those that it has merged. Can be called again after
 * a crash at any point. Runs that commit at the same time keep what they have committed.
 *
 * @returns the snapshot that it made
 * @throws {ToolkitError} `COMMIT_CONFLICT`, `RUN_NOT_FOUND`, `RUN_LIVE`, `RUN_NOT_RESUMABLE`, `SNAPSHOT_DAMAGED`,
 *   `DISK_FULL`, `WRITE_FAILED`
 * @throws {RangeError} when the counts of a partition do not add up or it is another run's
 */
export const commitCompaction = async (request: CompactCommitRequest): Promise<Snapshot> => {
  checkPartitions(request.lease, request.partitions)
  return commitWithRetries('compaction', request, (from) => tryCommit(request, from))
}

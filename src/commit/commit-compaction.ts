/**
 * Publishes a compaction as the next snapshot: its partitions take the place of those that it has put together. Partitions before
 * those stay as they are, and so does what other runs have committed meanwhile, which counts as later.
 */

import { ToolkitError } from '../core/errors.ts'
import type { CommittedPartition, Snapshot, SnapshotHead } from '../core/partition.ts'
import { isCompaction } from '../core/source-kinds.ts'
import { runsOfHistory } from '../lake/tables/past-tables.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { compactionsWith, type WithCompactions } from '../manifest/form/compactions.ts'
import { nameOfPartition } from '../manifest/form/sources.ts'
import { totalsOf } from '../manifest/form/totals.ts'
import { numberCompacted, type WithVersions } from '../manifest/form/version-numbers.ts'
import { headOf, readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { checkPartitions, commitWithRetries, createNext } from './commit-attempts.ts'
import type { CommitRequest } from './commit-run.ts'
import { extendLists, type PartWriter } from './extend-list.ts'
import type { ListVersions } from './record-versions.ts'
import { withInstants } from './source-instants.ts'

export interface CompactCommitRequest
  extends Pick<
    CommitRequest,
    'lease' | 'tool' | 'partitions' | 'runFiles' | 'now' | 'random' | 'maxAttempts' | 'signal'
  > {
  /** Lists which versions of records are superseded then. */
  readonly versions: ListVersions
  /** The snapshot that was compacted. The files of all its runs are replaced. */
  readonly base: Snapshot
  /** The partitions of `base` that are replaced: of one or more contents the newest ones. */
  readonly replaced: readonly CommittedPartition[]
}

/** A partition whose rows stand in another one now: of its files those of the quarantine are left. */
const mergedPartition = (partition: CommittedPartition): CommittedPartition => ({
  ...partition,
  counts: { ...partition.counts, rows: {} },
  files: partition.files.filter(({ table }) => table === QUARANTINE.name),
})

/** The partitions to record as merged, by whose versions rows go on to be known: a compaction has recorded its own ones before. */
const mergedOf = (partitions: readonly CommittedPartition[]): CommittedPartition[] => {
  const recorded = runsOfHistory(partitions)
  return partitions.filter(({ run }) => !recorded.has(run)).map(mergedPartition)
}

const conflict = (run: string, partition: string): ToolkitError =>
  new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot commit compaction "${run}": the lake was compacted or rewritten meanwhile (partition "${partition}"), expected its partitions as they were; begin again`,
    { run, partition },
  )

interface CompactedSnapshot extends Omit<Snapshot, 'versions'>, WithVersions, WithCompactions {
  /** The partitions that the compaction has made, among `partitions`. */
  readonly compacted: readonly CommittedPartition[]
}

/**
 * The next snapshot. Its partitions: those before, the compacted ones, then those that came meanwhile, whose versions count as later.
 *
 * @throws {ToolkitError} `COMMIT_CONFLICT` when the lake was compacted or rewritten meanwhile
 */
const compactedSnapshot = (
  request: Pick<
    CompactCommitRequest,
    'lease' | 'tool' | 'partitions' | 'runFiles' | 'now' | 'base' | 'replaced'
  >,
  newest: Snapshot & WithVersions & WithCompactions,
): CompactedSnapshot => {
  const { lease, tool, partitions, runFiles, now, base } = request
  const standing = new Set(newest.partitions.map(nameOfPartition))
  const lost = request.replaced.find((one) => !standing.has(nameOfPartition(one)))
  if (lost) throw conflict(lease.run, lost.id)
  const replaced = new Set(request.replaced.map(nameOfPartition))
  const known = new Set(base.partitions.map(nameOfPartition))
  const replacedFiles = new Set(base.files.map(({ path }) => path))
  const committed = { snapshot: newest.snapshot + 1, time: now().toISOString() }
  const left = newest.partitions.filter((one) => !replaced.has(nameOfPartition(one)))
  const older = left.filter((one) => known.has(nameOfPartition(one)))
  const later = {
    partitions: left.filter((one) => !known.has(nameOfPartition(one))),
    files: newest.files.filter(({ path }) => !replacedFiles.has(path)),
  }
  // The numbers left free before what came are for one compaction, and nothing else may have rewritten what stood.
  const last = base.partitions.at(-1)?.version ?? 0
  const other = later.partitions.find(({ source, version }) => isCompaction(source) || version <= last)
  if (other) throw conflict(lease.run, other.id)
  const made = numberCompacted(
    newest,
    {
      partitions: withInstants(partitions).map((partition) => ({ ...partition, committed })),
      files: runFiles.map((file) => ({ ...file, run: lease.run, committed })),
    },
    later,
  )
  const merged = newest.partitions.filter((one) => replaced.has(nameOfPartition(one)))
  return {
    ...committed,
    parent: newest.snapshot,
    run: lease.run,
    pipeline: 'compact',
    tool,
    nextVersion: made.nextVersion,
    compacted: made.partitions,
    partitions: [...older, ...made.partitions, ...later.partitions],
    files: [...made.files, ...later.files],
    ...(newest.pulls && { pulls: newest.pulls }),
    merged: [...(newest.merged ?? []), ...mergedOf(merged)],
    ...compactionsWith(newest, merged),
  }
}

/** Writes the parts of the next snapshot. @param before how many were merged before: their parts stay as they are */
const writeNext = async (
  writer: PartWriter,
  root: SnapshotRoot,
  next: CompactedSnapshot,
  before: number,
  versions: ListVersions,
): Promise<SnapshotRoot> => ({
  ...root,
  ...headOf(next),
  nextVersion: next.nextVersion,
  ...(next.compactions && { compactions: next.compactions }),
  totals: totalsOf(next),
  lists: await extendLists(
    writer,
    { ...root.lists, partitions: [], files: [] },
    { partitions: next.partitions, files: next.files, merged: next.merged?.slice(before) },
  ),
  versions: await versions({
    ...{ before: root, compacted: next.compacted, partitions: next.partitions, files: next.files, writer },
  }),
})

/** Tries the commit on a snapshot; `null` when another run was first. */
const commitOnto = async (
  request: CompactCommitRequest,
  root: SnapshotRoot | null,
): Promise<SnapshotHead | null> => {
  const { lease, random, partitions, runFiles } = request
  const { lake, run } = lease
  if (root === null) throw conflict(run, request.replaced[0]?.id ?? '')
  const { nextVersion, compactions } = root
  const newest = { ...(await readAllListed(lake, root)), nextVersion, ...(compactions && { compactions }) }
  const snapshot = compactedSnapshot(request, newest)
  const next = await createNext({
    ...{ lease, random, newest: root },
    files: [...partitions.flatMap(({ files }) => files), ...runFiles],
    write: (writer) => writeNext(writer, root, snapshot, newest.merged?.length ?? 0, request.versions),
  })
  return next && headOf(next)
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
export const commitCompaction = async (request: CompactCommitRequest): Promise<SnapshotHead> => {
  checkPartitions(request.lease, request.partitions)
  return commitWithRetries<SnapshotHead>('compaction', request, {
    found: async (earlier) => headOf(earlier),
    onto: (newest) => commitOnto(request, newest),
  })
}

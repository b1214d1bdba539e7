/**
 * A rule of a commit, and the snapshot on its way that rules add to. Each stands in a file of its own, and `rules.ts` lists
 * them.
 */

import type { Commit, CommittedPartition, FileOfRun, PartitionEntry } from '../core/partition.ts'
import { numberLoaded } from '../manifest/form/version-numbers.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { checkPartitions } from './commit-attempts.ts'
import type { Audited, RuleFindings } from './commit-summary.ts'
import type { PartWriter } from './extend-list.ts'
import { confirmFiles } from './files-of-run.ts'
import { type MovedVersion, withInstants } from './source-instants.ts'
import type { StagedRun } from './staged-files.ts'

export interface CommitRule {
  /**
   * Refuses the run, or finds what it will add, before anything is written; once more where another run commits first.
   *
   * @param root the snapshot that the commit is to build on
   * @returns `adds`: it has something to commit even where the lake shows already all that came
   */
  readonly look?: (root: SnapshotRoot | null) => Promise<'adds' | undefined>
  /** Adds its own to a snapshot; its files go with the attempt where another run is first. */
  readonly add?: (next: SnapshotDraft) => Promise<SnapshotDraft>
  /**
   * Looks at the snapshot that would be, before anybody sees it.
   *
   * @param root the snapshot that the commit builds on
   * @returns the checks that fail in it, for which it is held back, and the results of all of them
   */
  readonly audit?: (next: SnapshotRoot, root: SnapshotRoot | null) => Promise<Audited>
  /** For the summary of the run. */
  readonly report?: () => RuleFindings
}

/** A snapshot on its way. */
export interface SnapshotDraft extends Pick<SnapshotRoot, 'taken' | 'versions' | 'nextVersion'> {
  /** The one that it builds on. */
  readonly root: SnapshotRoot | null
  readonly committed: Commit
  /** Entries of the run, each with its version. */
  readonly partitions: readonly CommittedPartition[]
  readonly files: readonly FileOfRun[]
  /** Versions of the lake that turn out to be as of another instant. @default none */
  readonly moved?: readonly MovedVersion[] | undefined
  /** Writes its parts. */
  readonly writer: PartWriter
}

/** A snapshot with partitions that a rule has written, behind those that it has. Their files are put in place. */
export const withWritten = async (
  { lake, run, sink }: Pick<StagedRun, 'lake' | 'run'> & { readonly sink: Pick<StagedRun['sink'], 'commit'> },
  next: SnapshotDraft,
  written: readonly PartitionEntry[],
): Promise<SnapshotDraft> => {
  checkPartitions({ run }, written)
  const placed = written.flatMap((one) => one.files)
  next.writer.adopt(placed)
  await sink.commit(placed)
  await confirmFiles(lake, placed)
  const { root, committed, files } = next
  const all = withInstants([...next.partitions, ...written]).map((one) => ({ ...one, committed }))
  return { ...next, ...numberLoaded(root, { partitions: all, files }) }
}

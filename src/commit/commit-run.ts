/** Shows a run to readers: all of it at once, in the next snapshot. */

import type { Content } from '../contract/objects.ts'
import { ToolkitError } from '../core/errors.ts'
import type {
  CommittedPartition,
  FileEntry,
  PartitionEntry,
  PullEntry,
  SnapshotHead,
} from '../core/partition.ts'
import { DriftBudget } from '../core/unknown-names.ts'
import type { KeptTake } from '../lake/projection/declaration.ts'
import { knownByBytes, namedSources, splitLoaded } from '../manifest/form/loaded-sources.ts'
import { mayHoldRun } from '../manifest/form/part-summary.ts'
import { sourcesOf } from '../manifest/form/shared-sources.ts'
import { takenWith } from '../manifest/form/taken.ts'
import { addTotals, NO_TOTALS, totalsOf } from '../manifest/form/totals.ts'
import { numberLoaded } from '../manifest/form/version-numbers.ts'
import { entriesOf } from '../manifest/parts/parts.ts'
import { assertOwner, type SeenRun } from '../manifest/runs/run-lease.ts'
import { findCommit } from '../manifest/snapshots/find-commit.ts'
import { headOf, listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { ensureRecord, newestRoot, readKnownRoot } from '../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import {
  type CommitAttempts,
  checkPartitions,
  commitWithRetries,
  isRemovedBase,
} from './commit-with-retries.ts'
import { confirmFiles, discardFiles } from './confirm-files.ts'
import { createNext } from './create-next.ts'
import { extendList, type PartWriter } from './extend-list.ts'
import { refuseForgotten } from './refuse-forgotten.ts'

export interface CommitRequest extends CommitAttempts {
  /** The run, as it was when its files were looked at; its folder stays. Whoever commits need not own it. */
  readonly lease: SeenRun
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
  /** What was taken of the records. @default everything */
  readonly take?: KeptTake | undefined
  /** Commits sources that the lake holds already once more. @default false */
  readonly again?: boolean
  /** Called before each attempt with the snapshot it builds on, `null` before the first; what it throws ends the commit. */
  readonly beforeTry?: (newest: SnapshotRoot | null) => Promise<void>
  /** Partitions of the run that depend on the snapshot it builds on, behind the others; their files are in place. */
  readonly behind?: (newest: SnapshotRoot | null) => Promise<readonly PartitionEntry[]>
  readonly now: () => Date
}

/** `dropped`: partitions left out because the lake holds their source, or an earlier one of the run is equal. */
export type CommitOutcome =
  | {
      readonly kind: 'committed'
      readonly snapshot: SnapshotHead
      readonly dropped: readonly PartitionEntry[]
    }
  /** An earlier attempt had committed the run and then stopped. */
  | { readonly kind: 'already'; readonly snapshot: SnapshotHead; readonly dropped: readonly PartitionEntry[] }
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
const withBoundDrift = async (
  lake: string,
  newest: SnapshotRoot | null,
  kept: readonly PartitionEntry[],
  maxNames: number | undefined,
): Promise<readonly PartitionEntry[]> => {
  if (kept.every(({ drift }) => drift.length === 0)) return kept
  const budget = new DriftBudget(maxNames)
  if (newest !== null)
    for (const name of ['merged', 'partitions'] as const)
      for await (const { entries } of entriesOf(lake, name, newest.lists[name], ({ drift = 0 }) => drift > 0))
        for (const { drift } of entries) budget.add(drift)
  return kept.map((partition) => ({ ...partition, drift: budget.bound(partition.drift) }))
}

const NO_LISTS: SnapshotRoot['lists'] = { partitions: [], files: [], pulls: [], merged: [] }

/** Sources of new partitions that the lake has partitions of already, by content. */
const commonSources = (
  kept: readonly PartitionEntry[],
  held: readonly PartitionEntry[],
): ((content: Content) => number) => {
  const keysOf = (one: PartitionEntry): readonly string[] =>
    namedSources(one).map(([name]) => `${one.content} ${name}`)
  const known = new Set(held.flatMap(keysOf))
  const common = new Map(
    kept.flatMap((one) =>
      keysOf(one).flatMap((key) => (known.has(key) ? [[key, one.content] as const] : [])),
    ),
  )
  return (content) => [...common.values()].filter((one) => one === content).length
}

/** What a run adds to a lake. */
interface Addition {
  readonly kept: readonly PartitionEntry[]
  readonly runFiles: readonly FileEntry[]
  /** Partitions of the lake that are of the same sources. */
  readonly held: readonly PartitionEntry[]
}

/** The next snapshot, its parts written: nobody reads them before its own file names them. */
const writeNext = async (
  { lease, pipeline, tool, now, pulls = [], maxUnknownNames, take = {} }: CommitRequest,
  newest: SnapshotRoot | null,
  { kept, runFiles, held }: Addition,
  writer: PartWriter,
): Promise<SnapshotRoot> => {
  const { lake, run } = lease
  const { totals, lists } = newest ?? { totals: NO_TOTALS, lists: NO_LISTS }
  const committed = { snapshot: (newest?.snapshot ?? 0) + 1, time: now().toISOString() }
  const bound = await withBoundDrift(lake, newest, kept, maxUnknownNames)
  const { partitions, files, nextVersion } = numberLoaded(newest, {
    partitions: bound.map((partition) => ({ ...partition, committed })),
    files: runFiles.map((file) => ({ ...file, run, committed })),
  })
  return {
    ...newest,
    ...committed,
    ...takenWith(newest, { run, snapshot: committed.snapshot }, take),
    parent: newest?.snapshot ?? null,
    run,
    pipeline,
    tool,
    nextVersion,
    totals: addTotals(totals, totalsOf({ partitions, files, pulls }), commonSources(kept, held)),
    lists: {
      partitions: await extendList(writer, 'partitions', lists.partitions, partitions),
      files: await extendList(writer, 'files', lists.files, files),
      pulls: await extendList(writer, 'pulls', lists.pulls, pulls),
      merged: await extendList(writer, 'merged', lists.merged, []),
    },
  }
}

const droppedOf = async (
  root: SnapshotRoot,
  { lease: { lake, run }, partitions }: CommitRequest,
): Promise<readonly PartitionEntry[]> => {
  const listed = await listOf(lake, root, 'partitions', mayHoldRun(run))
  const shown = new Set(listed.filter((one) => one.run === run).map(({ id }) => id))
  return partitions.filter(({ id }) => !shown.has(id))
}

/** Removes the files that this commit has made for the run where another commit of it was first, with its own. */
const discardUnlisted = async (
  root: SnapshotRoot,
  { lease: { lake, run }, runFiles }: CommitRequest,
): Promise<void> => {
  // A later snapshot need not list what one in between does.
  if (root.run !== run) return
  const listed = new Set((await listOf(lake, root, 'files', mayHoldRun(run))).map(({ path }) => path))
  const unlisted = runFiles.filter(({ path }) => !listed.has(path))
  if (unlisted.length > 0) await discardFiles(lake, unlisted)
}

/** SHA-256 of the sources that the same bytes may have been loaded of before. */
const knownHashes = (partitions: readonly PartitionEntry[]): ReadonlySet<string> => {
  const hashes = new Set<string>()
  for (const one of partitions)
    for (const source of sourcesOf(one)) if (knownByBytes(source)) hashes.add(source.sha256)
  return hashes
}

/**
 * The snapshot from before the run: whoever worked for the run has looked for its sources in that one or in a later one,
 * and they were not there. `null` where it is gone.
 */
const lookedThrough = async (
  { lease: { lake, base } }: CommitRequest,
  newest: SnapshotRoot | null,
): Promise<SnapshotRoot | null> => {
  if (newest === null || base === 0) return null
  if (newest.snapshot === base) return newest
  return readKnownRoot(lake, base).catch((error: unknown) => {
    if (error instanceof ToolkitError && error.code === 'SNAPSHOT_DAMAGED') return null
    throw error
  })
}

/** Partitions of the lake that are of the same sources as those of the run, as far as it cannot know them. */
const heldBy = async (
  request: CommitRequest,
  newest: SnapshotRoot | null,
): Promise<readonly CommittedPartition[]> => {
  const { lake } = request.lease
  const hashes = knownHashes(request.partitions)
  const since = request.again ? null : await lookedThrough(request, newest)
  try {
    return await new SourceIndex(lake, newest, since).partitionsOf(hashes)
  } catch (error) {
    if (since === null || !(await isRemovedBase(lake, since, error))) throw error
    return new SourceIndex(lake, newest).partitionsOf(hashes)
  }
}

/** One attempt on a snapshot; gives that one's number when another run was first. */
const commitOnto = async (
  request: CommitRequest,
  base: number,
  newest: SnapshotRoot | null,
): Promise<CommitOutcome | number> => {
  const { lease, partitions, pulls = [], again = false } = request
  const { lake, run } = lease
  // Its own commit first, whoever made it: of several at once one creates the snapshot, and the others find it here.
  const earlier = await findCommit(lake, run, base, newest)
  if (earlier) {
    await ensureRecord(lake, earlier.snapshot)
    await discardUnlisted(earlier, request)
    return { kind: 'already', snapshot: headOf(earlier), dropped: await droppedOf(earlier, request) }
  }
  await assertOwner(lease)
  await refuseForgotten(lease, newest)
  const held = await heldBy(request, newest)
  const { kept, dropped } = again
    ? { kept: partitions, dropped: [] }
    : splitLoaded({ partitions: held }, partitions)
  const [runFiles, unused] = kept.length > 0 ? [request.runFiles, []] : [[], request.runFiles]
  if (kept.length === 0 && pulls.length === 0) {
    await discardFiles(lake, [...filesOf(dropped), ...unused])
    return { kind: 'nothing', dropped }
  }
  await request.beforeTry?.(newest)
  const behind = (await request.behind?.(newest)) ?? []
  checkPartitions(lease, behind)
  await confirmFiles(lake, [...filesOf([...kept, ...behind]), ...runFiles])
  // The record of every snapshot below the newest is there: a missing one is damage, not a commit on its way.
  if (newest) await ensureRecord(lake, newest.snapshot)
  const root = await createNext(lease, request.random, (writer) =>
    writeNext(request, newest, { kept: [...kept, ...behind], runFiles, held }, writer),
  )
  if (root === null) {
    await discardFiles(lake, filesOf(behind))
    return newest?.snapshot ?? 0
  }
  await ensureRecord(lake, root.snapshot)
  await discardFiles(lake, [...filesOf(dropped), ...unused])
  return { kind: 'committed', snapshot: headOf(root), dropped }
}

/** One attempt on the newest snapshot; gives the number to go on from when another run was first. */
const tryCommit = async (request: CommitRequest, base: number): Promise<CommitOutcome | number> => {
  const { lake } = request.lease
  const newest = await newestRoot(lake)
  try {
    return await commitOnto(request, base, newest)
  } catch (error) {
    if (newest && (await isRemovedBase(lake, newest, error))) return base
    throw error
  }
}

/**
 * Lists the files of a run in a new snapshot. Can be called again after a crash at any point, by several processes of
 * one run at once, and by several runs of one lake: one that finds another was first builds on its snapshot.
 *
 * @throws {ToolkitError} `COMMIT_CONFLICT`, `RUN_NOT_FOUND`, `RUN_LIVE`, `RUN_NOT_RESUMABLE`,
 *   `SNAPSHOT_DAMAGED`, `DISK_FULL`, `WRITE_FAILED`
 * @throws {RangeError} when the counts of a partition do not add up or it is another run's
 */
export const commitPartitions = async (request: CommitRequest): Promise<CommitOutcome> => {
  checkRequest(request)
  return commitWithRetries('run', request, (base) => tryCommit(request, base))
}

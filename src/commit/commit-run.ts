/** Publishes a run atomically as the next snapshot. */

import type { Content } from '../contract/objects.ts'
import { ToolkitError } from '../core/errors.ts'
import type {
  CommittedPartition,
  FileEntry,
  PartitionEntry,
  PullEntry,
  SnapshotHead,
} from '../core/partition.ts'
import { mayHoldRun } from '../manifest/form/part-summary.ts'
import { knownByBytes, namedSources, sourcesOf, splitLoaded } from '../manifest/form/sources.ts'
import { addTotals, NO_TOTALS, totalsOf } from '../manifest/form/totals.ts'
import { numberLoaded } from '../manifest/form/version-numbers.ts'
import type { SeenRun } from '../manifest/runs/run-lease.ts'
import { headOf, listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { readKnownRoot } from '../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import {
  type CommitAttempts,
  checkPartitions,
  commitWithRetries,
  createNext,
  isRemovedBase,
} from './commit-attempts.ts'
import type { CommitRule, SnapshotDraft } from './commit-rule.ts'
import type { Audited } from './commit-summary.ts'
import { extendLists, NO_LISTS, type PartWriter } from './extend-list.ts'
import { discardFiles } from './files-of-run.ts'
import { withInstants } from './source-instants.ts'

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
  /** Commits sources that the lake holds already once more. @default false */
  readonly again?: boolean
  /** The rules of the commit, in this order. */
  readonly rules: readonly CommitRule[]
  readonly now: () => Date
}

/** `dropped`: partitions left out because the lake holds their source, or an earlier one of the run is equal. */
export type CommitOutcome =
  /** `shown`: the partitions of the run in the snapshot; `already`: an earlier attempt had committed the run and then stopped. */
  | {
      readonly kind: 'committed' | 'already'
      readonly snapshot: SnapshotHead
      readonly shown: readonly CommittedPartition[]
      readonly dropped: readonly PartitionEntry[]
    }
  /** Every partition was dropped and there was no pull: no snapshot is made. */
  | { readonly kind: 'nothing'; readonly dropped: readonly PartitionEntry[] }

const filesOf = (partitions: readonly PartitionEntry[]): FileEntry[] =>
  partitions.flatMap(({ files }) => files)

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

/** Entries that a run adds to a lake. */
interface Addition {
  readonly kept: readonly PartitionEntry[]
  readonly runFiles: readonly FileEntry[]
  /** Partitions of the lake that are of the same sources. */
  readonly held: readonly PartitionEntry[]
}

/** The next snapshot, its parts written: nobody reads them before its own file names them. */
const writeNext = async (
  { lease: { run }, pipeline, tool, now, pulls = [], rules }: CommitRequest,
  root: SnapshotRoot | null,
  { kept, runFiles, held }: Addition,
  writer: PartWriter,
): Promise<SnapshotRoot> => {
  const committed = { snapshot: (root?.snapshot ?? 0) + 1, time: now().toISOString() }
  const { taken, versions = [], totals = NO_TOTALS, lists = NO_LISTS } = root ?? {}
  const numbered = numberLoaded(root, {
    partitions: withInstants(kept).map((one) => ({ ...one, committed })),
    files: runFiles.map((file) => ({ ...file, run, committed })),
  })
  let next: SnapshotDraft = { root, committed, ...numbered, taken, versions, writer }
  for (const { add } of rules) if (add) next = await add(next)
  const added = { partitions: next.partitions, files: next.files, pulls }
  return {
    ...root,
    ...committed,
    ...(next.taken && { taken: next.taken }),
    parent: root?.snapshot ?? null,
    run,
    pipeline,
    tool,
    nextVersion: next.nextVersion,
    totals: addTotals(totals, totalsOf(added), commonSources(next.partitions, held)),
    lists: await extendLists(writer, lists, added),
    versions: next.versions,
  }
}

/** The partitions of a run that a snapshot shows, and those that it does not. */
const splitShown = async (
  root: SnapshotRoot,
  { lease: { lake, run }, partitions }: CommitRequest,
): Promise<{
  readonly shown: readonly CommittedPartition[]
  readonly dropped: readonly PartitionEntry[]
}> => {
  const listed = await listOf(lake, root, 'partitions', mayHoldRun(run))
  const shown = listed.filter((one) => one.run === run)
  const ids = new Set(shown.map(({ id }) => id))
  return { shown, dropped: partitions.filter(({ id }) => !ids.has(id)) }
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

/** Tries the commit on a snapshot; `null` when another run was first. */
const commitOnto = async (
  request: CommitRequest,
  newest: SnapshotRoot | null,
): Promise<CommitOutcome | null> => {
  const { lease, partitions, pulls = [], again = false, rules } = request
  const { lake } = lease
  const held = await heldBy(request, newest)
  const { kept, dropped } = again
    ? { kept: partitions, dropped: [] }
    : splitLoaded({ partitions: held }, partitions)
  const [runFiles, unused] = kept.length > 0 ? [request.runFiles, []] : [[], request.runFiles]
  if (kept.length === 0 && pulls.length === 0) {
    await discardFiles(lake, [...filesOf(dropped), ...unused])
    return { kind: 'nothing', dropped }
  }
  for (const { look } of rules) await look?.(newest)
  const root = await createNext({
    ...{ lease, random: request.random, newest },
    files: [...filesOf(kept), ...runFiles],
    write: (writer) => writeNext(request, newest, { kept, runFiles, held }, writer),
    audit: async (next) => {
      const all: Audited[] = []
      for (const { audit } of rules) if (audit) all.push(await audit(next, newest))
      return {
        failed: all.flatMap(({ failed }) => failed),
        results: all.flatMap(({ results }) => results),
      }
    },
  })
  if (root === null) return null
  await discardFiles(lake, [...filesOf(dropped), ...unused])
  return {
    kind: 'committed',
    snapshot: headOf(root),
    shown: (await splitShown(root, request)).shown,
    dropped,
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
  const { lease, partitions, pulls = [] } = request
  for (const { run } of pulls)
    if (run !== lease.run) throw new RangeError(`Cannot commit a pull of run "${run}" with "${lease.run}"`)
  checkPartitions(lease, partitions)
  return commitWithRetries<CommitOutcome>('run', request, {
    found: async (earlier) => {
      await discardUnlisted(earlier, request)
      return { kind: 'already', snapshot: headOf(earlier), ...(await splitShown(earlier, request)) }
    },
    onto: (newest) => commitOnto(request, newest),
  })
}

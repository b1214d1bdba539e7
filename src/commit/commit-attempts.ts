/** Steps of every commit: check its partitions, create the next snapshot, and retry when another run commits first. */

import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { KeptResult } from '../core/checks.ts'
import { ToolkitError, writeError } from '../core/errors.ts'
import type { CheckEntry, FileEntry, PartitionEntry, SnapshotHead } from '../core/partition.ts'
import { forgottenBefore } from '../manifest/form/forgotten.ts'
import { arithmeticProblems } from '../manifest/form/problems.ts'
import { assertOwner, type RunLease, type SeenRun } from '../manifest/runs/run-lease.ts'
import { removeRunFolder } from '../manifest/runs/runs.ts'
import { createHeld, type HeldSnapshot, heldError, refuseWhileHeld } from '../manifest/snapshots/held.ts'
import { ensureLakeId } from '../manifest/snapshots/lake-id.ts'
import { LIST_NAMES } from '../manifest/snapshots/parts.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import {
  createSnapshot,
  ensureRecord,
  findCommit,
  listManifest,
  listSnapshots,
  newestRoot,
  readKnownRoot,
} from '../manifest/snapshots/snapshots.ts'
import type { RandomBytes } from '../support/run-ids.ts'
import type { Audited } from './commit-summary.ts'
import { extendList, PartWriter } from './extend-list.ts'
import { confirmFiles, discardLoaded } from './files-of-run.ts'

const LONGEST_PAUSE_MS = 25

/** @throws {RangeError} when the counts of a partition do not add up */
export const checkSums = (partition: PartitionEntry): void => {
  const [problem] = arithmeticProblems(partition)
  if (problem !== undefined) throw new RangeError(`Cannot commit partition "${partition.id}": ${problem}`)
}

/** @throws {RangeError} when the counts of a partition do not add up or it is another run's */
export const checkPartitions = (
  { run }: Pick<SeenRun, 'run'>,
  partitions: readonly PartitionEntry[],
): void => {
  for (const partition of partitions) {
    checkSums(partition)
    if (partition.run !== run)
      throw new RangeError(`Cannot commit partition "${partition.id}": it is of run "${partition.run}"`)
  }
}

export interface CommitAttempts {
  readonly lease: SeenRun
  readonly random: RandomBytes
  /** Attempts when other runs commit first. @default 100 (each lost attempt is another run's commit) */
  readonly maxAttempts?: number
  readonly signal?: AbortSignal | undefined
}

/** Whether an attempt failed because gc removed the snapshot that it builds on: others have committed since. */
export const isRemovedBase = async (
  lake: string,
  { snapshot }: Pick<SnapshotHead, 'snapshot'>,
  error: unknown,
): Promise<boolean> =>
  error instanceof ToolkitError &&
  error.code === 'SNAPSHOT_DAMAGED' &&
  (await listManifest(lake)).oldest > snapshot

/** How a commit makes its snapshot. */
interface CommitSteps<Outcome> {
  /** The outcome where a commit of the run is found, whoever made it. */
  readonly found: (earlier: SnapshotRoot) => Promise<Outcome>
  /** Tries the commit on a snapshot. @returns `null` when another run was first */
  readonly onto: (newest: SnapshotRoot | null) => Promise<Outcome | null>
}

/**
 * Retries a commit until no other run commits first.
 *
 * @param what noun for error messages, such as `run`
 * @throws {ToolkitError} `COMMIT_CONFLICT` after the last attempt, and what an attempt throws
 */
export const commitWithRetries = async <Outcome extends object>(
  what: string,
  { lease, random, maxAttempts = 100, signal }: CommitAttempts,
  { found, onto }: CommitSteps<Outcome>,
): Promise<Outcome> => {
  const { lake, run, base } = lease
  let from = base
  const attemptOn = async (newest: SnapshotRoot | null): Promise<Outcome | null> => {
    // Several commits of a run may be under way: one creates the snapshot, and the others find it here.
    const earlier = await findCommit(lake, run, from, newest)
    if (earlier) {
      await ensureRecord(lake, earlier.snapshot)
      return found(earlier)
    }
    await assertOwner(lease)
    await refuseForgotten(lease, newest)
    return onto(newest)
  }
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    signal?.throwIfAborted()
    try {
      const newest = await newestRoot(lake)
      const outcome = await attemptOn(newest).catch(async (error: unknown) => {
        if (newest && (await isRemovedBase(lake, newest, error))) return undefined
        throw error
      })
      if (outcome) return outcome
      if (outcome === null) from = newest?.snapshot ?? 0
    } catch (error) {
      throw writeError(`Cannot commit ${what} "${run}"`, error)
    }
    await pause((LONGEST_PAUSE_MS * (random(1)[0] ?? 0)) / 255, undefined, signal && { signal })
  }
  throw new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot commit ${what} "${run}": gave up after ${maxAttempts} attempts, each time another run had committed first`,
    { run, tries: maxAttempts },
  )
}

interface NextCommit extends Pick<CommitAttempts, 'random'> {
  readonly lease: Pick<RunLease, 'lake' | 'run'>
  readonly newest: SnapshotRoot | null
  /** Files that it lists and {@link newest} does not: they are checked first. */
  readonly files: readonly FileEntry[]
  readonly write: (writer: PartWriter) => Promise<SnapshotRoot>
  /** Checks the snapshot that would be. @default it is shown */
  readonly audit?: ((next: SnapshotRoot) => Promise<Audited>) | undefined
}

/** A snapshot with the results of its checks. */
const withResults = async (
  root: SnapshotRoot,
  { run }: Pick<RunLease, 'run'>,
  results: readonly KeptResult[],
  writer: PartWriter,
): Promise<SnapshotRoot> => {
  if (results.length === 0) return root
  const { snapshot, time } = root
  const entries = results.map((one): CheckEntry => ({ run, snapshot, time, ...one }))
  const checks = await extendList(writer, 'checks', root.lists.checks, entries)
  return { ...root, lists: { ...root.lists, checks } }
}

/** Holds a snapshot back: its parts stay, and nobody sees it. @throws {ToolkitError} `LOAD_HELD`, also where another one is held */
const holdBack = async (
  { lake, run }: Pick<RunLease, 'lake' | 'run'>,
  root: SnapshotRoot,
  { failed: checks, results }: Audited,
  writer: PartWriter,
): Promise<never> => {
  const held: HeldSnapshot = { run, at: root.time, root, checks, results }
  if (await createHeld(lake, held)) throw heldError(lake, held)
  await writer.discard()
  await refuseWhileHeld(lake)
  throw heldError(lake, held)
}

/**
 * The last step of every commit: creates the next snapshot if its number is free. The parts of an attempt that failed are
 * removed.
 *
 * @returns `null` when another run was first
 * @throws {ToolkitError} `LOAD_HELD`
 */
export const createNext = async ({
  lease,
  random,
  newest,
  files,
  write,
  audit,
}: NextCommit): Promise<SnapshotRoot | null> => {
  await confirmFiles(lease.lake, files)
  // The record of every snapshot below the newest is there: a missing one is damage, not a commit on its way.
  if (newest) await ensureRecord(lease.lake, newest.snapshot)
  const writer = new PartWriter(lease, random)
  let root: SnapshotRoot
  let audited: Audited | undefined
  try {
    root = await write(writer)
    await ensureLakeId(lease.lake, random, false)
    audited = await audit?.(root)
    if (audited?.failed.length === 0) root = await withResults(root, lease, audited.results, writer)
    await writer.sync(files.map(({ path }) => path))
  } catch (error) {
    await writer.discard()
    throw error
  }
  if (audited && audited.failed.length > 0) return holdBack(lease, root, audited, writer)
  const isCreated = await createSnapshot(lease.lake, root).catch(async (error: unknown) => {
    // A full disk may have it, where it found no room behind it. After another fault, such as a lost answer, nobody knows.
    const isAbsent = error instanceof ToolkitError && error.code === 'DISK_FULL' && (await lacks(lease, root))
    if (isAbsent) await writer.discard()
    throw error
  })
  if (isCreated) {
    await ensureRecord(lease.lake, root.snapshot)
    return root
  }
  // A bucket may have created it although its answer was lost: then it lists these very parts.
  const first = await readKnownRoot(lease.lake, root.snapshot).catch(() => null)
  if (first !== null && !isDeepStrictEqual(partNames(first), partNames(root))) await writer.discard()
  return null
}

/** Whether a lake surely has no snapshot of this number. */
const lacks = async ({ lake }: Pick<SeenRun, 'lake'>, { snapshot }: SnapshotRoot): Promise<boolean> => {
  const numbers = await listSnapshots(lake).catch(() => null)
  return numbers !== null && !numbers.includes(snapshot)
}

const partNames = ({ lists, versions }: SnapshotRoot): readonly string[] => [
  ...LIST_NAMES.flatMap((name) => lists[name].map(({ ref }) => ref.name)),
  ...versions.map(({ name }) => name),
]

/**
 * Removes a run that began before a forget, with all that it has loaded: it may hold what was forgotten.
 *
 * @param newest the snapshot that it would be committed on
 * @throws {ToolkitError} `COMMIT_CONFLICT` of such a run
 */
const refuseForgotten = async ({ lake, run, base }: SeenRun, newest: SnapshotRoot | null): Promise<void> => {
  const snapshot = newest === null ? 0 : forgottenBefore(newest)
  if (snapshot <= base) return
  await discardLoaded(lake, run)
  await removeRunFolder(lake, run)
  throw new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot commit run "${run}": it began before snapshot ${snapshot}, which has forgotten companies or persons, and may hold them; run the same command again`,
    { run, snapshot },
  )
}

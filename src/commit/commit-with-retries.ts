/** What commits of every kind do alike: check their partitions, and retry when another run commits first. */

import { setTimeout as pause } from 'node:timers/promises'
import { ToolkitError, writeError } from '../core/errors.ts'
import type { PartitionEntry, SnapshotHead } from '../core/partition.ts'
import { arithmeticProblems } from '../manifest/form/arithmetic-problems.ts'
import type { SeenRun } from '../manifest/runs/run-lease.ts'
import { listManifest } from '../manifest/snapshots/snapshots.ts'
import type { RandomBytes } from '../support/run-ids.ts'

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

/**
 * Retries a commit until no other run commits first.
 *
 * @param its name in messages: `run`
 * @param tryCommit one attempt; gives the number of the newest snapshot when another run was first
 * @throws {ToolkitError} `COMMIT_CONFLICT` after the last attempt, and what an attempt throws
 */
export const commitWithRetries = async <Outcome extends object>(
  what: string,
  { lease: { run, base }, random, maxAttempts = 100, signal }: CommitAttempts,
  tryCommit: (base: number) => Promise<Outcome | number>,
): Promise<Outcome> => {
  let from = base
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    signal?.throwIfAborted()
    const outcome = await tryCommit(from).catch((error: unknown) => {
      throw writeError(`Cannot commit ${what} "${run}"`, error)
    })
    if (typeof outcome !== 'number') return outcome
    from = outcome
    await pause((LONGEST_PAUSE_MS * (random(1)[0] ?? 0)) / 255, undefined, signal && { signal })
  }
  throw new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot commit ${what} "${run}": gave up after ${maxAttempts} attempts, each time another run had committed first`,
    { run, tries: maxAttempts },
  )
}

/**
 * Publishes a forget as the next snapshot: the same partitions in other files, and a receipt. It fails where another run has
 * committed meanwhile.
 */

import type { KeptResult } from '../core/checks.ts'
import { ToolkitError } from '../core/errors.ts'
import type { CheckEntry, FileEntry, Snapshot, SnapshotHead, VersionFile } from '../core/partition.ts'
import { type ForgetReceipt, type ForgottenIds, knownWith, nextRefusals } from '../manifest/form/forgotten.ts'
import { totalsOf } from '../manifest/form/totals.ts'
import { assertOwner } from '../manifest/runs/run-lease.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { ensureRecord, findCommit, newestRoot } from '../manifest/snapshots/snapshots.ts'
import { type CommitAttempts, checkSums, createNext } from './commit-attempts.ts'
import { extendLists, NO_LISTS, type PartWriter } from './extend-list.ts'

/** Everything that a snapshot lists. */
export type LeftInLake = Required<Pick<Snapshot, 'partitions' | 'files' | 'pulls' | 'merged'>>

export interface ForgetCommitRequest extends Pick<CommitAttempts, 'lease' | 'random'> {
  readonly tool: string
  /** The snapshot whose files were looked through. */
  readonly base: SnapshotHead
  /** The entries of that snapshot without the forgotten. */
  readonly listed: LeftInLake
  /** The new files among them, which are in place. */
  readonly written: readonly FileEntry[]
  readonly ids: ForgottenIds
  /** The lists of record versions without the forgotten companies. */
  readonly versions: (before: SnapshotRoot, writer: PartWriter) => Promise<readonly VersionFile[]>
  /** Names of the drift that was dropped, as `nameKey`. */
  readonly names: readonly string[]
  readonly receipt: Omit<ForgetReceipt, 'snapshot' | 'time' | 'run'>
  readonly now: () => Date
}

/** Results of checks without the ids of the forgotten. */
export const withoutKeys = <Result extends KeptResult>(
  results: readonly Result[],
  { companies, persons }: ForgottenIds,
): readonly Result[] =>
  results.map((one) => ({
    ...one,
    keys: one.keys?.filter((key) => !companies.has(BigInt(key)) && !persons.has(BigInt(key))),
  }))

const keptChecks = async (
  { lake }: PartWriter,
  newest: SnapshotRoot,
  ids: ForgottenIds,
): Promise<readonly CheckEntry[]> => withoutKeys(await listOf(lake, newest, 'checks'), ids)

/** Every part is written anew: its names and sources may have been about the forgotten. */
const writeNext = async (
  { lease, tool, listed, ids, names, receipt, now, random, versions }: ForgetCommitRequest,
  newest: SnapshotRoot,
  writer: PartWriter,
): Promise<SnapshotRoot> => {
  const { run } = lease
  const committed = { snapshot: newest.snapshot + 1, time: now().toISOString() }
  const { refusals: before, forgotten = [], knownNames, ...fields } = newest
  const refusals = nextRefusals(before, ids, receipt.later, random)
  return {
    ...fields,
    ...{ ...committed, parent: newest.snapshot, run, pipeline: 'forget', tool },
    totals: totalsOf(listed),
    forgotten: [...forgotten, { ...committed, run, ...receipt }],
    ...(refusals && { refusals }),
    ...knownWith(knownNames, names, random),
    lists: await extendLists(writer, NO_LISTS, { ...listed, checks: await keptChecks(writer, newest, ids) }),
    versions: await versions(newest, writer),
  }
}

const conflict = (lake: string): ToolkitError =>
  new ToolkitError(
    'COMMIT_CONFLICT',
    `Cannot forget in lake "${lake}": another run has committed meanwhile; expected none, run the same command again`,
    { lake },
  )

/**
 * Makes the snapshot of a forget. The lake is as it was where it throws.
 *
 * @throws {ToolkitError} `COMMIT_CONFLICT` when the lake has another snapshot by now, `RUN_LIVE`, `RUN_NOT_FOUND`,
 *   `DISK_FULL`, `WRITE_FAILED`
 * @throws {RangeError} when the counts of a partition do not add up
 */
export const commitForget = async (request: ForgetCommitRequest): Promise<SnapshotRoot> => {
  const { lease, base, listed, written, random } = request
  const { lake, run } = lease
  for (const partition of [...listed.partitions, ...listed.merged]) checkSums(partition)
  await assertOwner(lease)
  const newest = await newestRoot(lake)
  if (newest === null || newest.snapshot !== base.snapshot || newest.run !== base.run) throw conflict(lake)
  const root = await createNext({
    ...{ lease, random, newest, files: written },
    write: (writer) => writeNext(request, newest, writer),
  })
  if (root) return root
  // A bucket may have created it although its answer was lost.
  const own = await findCommit(lake, run, newest.snapshot, await newestRoot(lake))
  if (own === null) throw conflict(lake)
  await ensureRecord(lake, own.snapshot)
  return own
}

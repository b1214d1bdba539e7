/** Shows a lake to readers as it is, in the newest format: the next snapshot lists what the one before does. */

import type { SnapshotHead } from '../core/partition.ts'
import { type CommitAttempts, commitWithRetries, isRemovedBase } from './commit-with-retries.ts'
import { createNext } from './create-next.ts'
import { extendList, type PartWriter } from './extend-list.ts'
import { findCommit } from './find-commit.ts'
import { withCommits } from './lake-facts.ts'
import { NEWEST_FORMAT } from './root-form.ts'
import { assertOwner } from './run-lease.ts'
import { headOf, readAllListed, type SnapshotRoot } from './snapshot-root.ts'
import { ensureRecord, readFormat, rootToCommitOn } from './snapshots.ts'

export interface UpgradeCommitRequest extends CommitAttempts {
  /** Name and version of the tool. */
  readonly tool: string
  readonly now: () => Date
}

export const UPGRADE_PIPELINE = 'upgrade'

/** The same lists; entries that an earlier release wrote without their commit get it, as far as it is known. */
const writeLists = async (writer: PartWriter, root: SnapshotRoot): Promise<SnapshotRoot['lists']> => {
  const { lists } = root
  const listed = await readAllListed(writer.lake, root)
  const whole = await withCommits(writer.lake, listed)
  if (whole === listed)
    return {
      partitions: await extendList(writer, 'partitions', lists.partitions, []),
      files: await extendList(writer, 'files', lists.files, []),
      pulls: await extendList(writer, 'pulls', lists.pulls, []),
      merged: await extendList(writer, 'merged', lists.merged, []),
    }
  return {
    partitions: await extendList(writer, 'partitions', [], whole.partitions),
    files: await extendList(writer, 'files', [], whole.files),
    pulls: await extendList(writer, 'pulls', lists.pulls, []),
    merged: await extendList(writer, 'merged', [], whole.merged ?? []),
  }
}

/** One attempt; gives the number to go on from when another run was first. */
const tryCommit = async (
  { lease, tool, now, random }: UpgradeCommitRequest,
  from: number,
): Promise<{ readonly head: SnapshotHead | null } | number> => {
  const { lake, run } = lease
  await assertOwner(lease)
  const root = await rootToCommitOn(lake)
  if (root === null) return { head: null }
  try {
    const earlier = await findCommit(lake, run, from, root)
    if (earlier) {
      await ensureRecord(lake, earlier.snapshot)
      return { head: headOf(earlier) }
    }
    if ((await readFormat(lake, root.snapshot)) === NEWEST_FORMAT) return { head: null }
    await ensureRecord(lake, root.snapshot)
    const head = { snapshot: root.snapshot + 1, time: now().toISOString(), parent: root.snapshot }
    const next = await createNext(lease, random, async (writer) => ({
      ...root,
      ...{ ...head, run, pipeline: UPGRADE_PIPELINE, tool },
      lists: await writeLists(writer, root),
    }))
    if (next === null) return root.snapshot
    await ensureRecord(lake, next.snapshot)
    return { head: headOf(next) }
  } catch (error) {
    if (await isRemovedBase(lake, root, error)) return from
    throw error
  }
}

/**
 * Commits what the lake holds once more, in the newest format. Can be called again after a crash at any point.
 *
 * @returns `null` where another run has committed in this format meanwhile
 * @throws {ToolkitError} `COMMIT_CONFLICT`, `RUN_NOT_FOUND`, `RUN_LIVE`, `SNAPSHOT_DAMAGED`, `DISK_FULL`, `WRITE_FAILED`
 */
export const commitUpgrade = async (request: UpgradeCommitRequest): Promise<SnapshotHead | null> =>
  (await commitWithRetries('upgrade', request, (from) => tryCommit(request, from))).head

/** The last step of every commit: the parts of the next snapshot, then the snapshot. */

import type { RunLease } from '../manifest/runs/run-lease.ts'
import { ensureLakeId } from '../manifest/snapshots/lake-id.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { createSnapshot, readKnownRoot } from '../manifest/snapshots/snapshots.ts'
import type { RandomBytes } from '../support/run-ids.ts'
import { PartWriter } from './extend-list.ts'

/**
 * Creates the next snapshot if its number is free. What an attempt in vain has written is removed.
 *
 * @param write writes its parts
 * @returns `null` when another run was first
 */
export const createNext = async (
  lease: RunLease,
  random: RandomBytes,
  write: (writer: PartWriter) => Promise<SnapshotRoot>,
): Promise<SnapshotRoot | null> => {
  const writer = new PartWriter(lease, random)
  let root: SnapshotRoot
  try {
    root = await write(writer)
  } catch (error) {
    await writer.discard()
    throw error
  }
  await ensureLakeId(lease.lake, random)
  if (await createSnapshot(lease.lake, root)) return root
  // A bucket may have created it although its answer was lost: then it is of this very run.
  const first = await readKnownRoot(lease.lake, root.snapshot).catch(() => null)
  if (first !== null && first.run !== root.run) await writer.discard()
  return null
}

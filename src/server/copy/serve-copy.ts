/** From a lake to an open serving copy: finds the snapshot's copy, makes it where there is none, and opens it. */

import { readSnapshot, readSnapshotText } from '../../manifest/snapshots.ts'
import { sha256Of } from '../../support/hash.ts'
import { copyFolder, type MakeCopyRequest, makeCopy } from './make-copy.ts'
import { openCopy } from './open-copy.ts'
import type { ServingCopy } from './serving-copy.ts'

export interface ServeCopyRequest extends Omit<MakeCopyRequest, 'snapshot' | 'snapshotSha256'> {
  /** Number of the snapshot. @default the newest */
  readonly snapshot?: number | undefined
}

/**
 * @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED; COPY_UNUSABLE where the copy is
 *   damaged; what `makeCopy` throws
 */
export const serveCopy = async (request: ServeCopyRequest): Promise<ServingCopy> => {
  const { lake, memoryBytes, threads } = request
  const snapshot = await readSnapshot(lake, request.snapshot)
  const snapshotSha256 = sha256Of(await readSnapshotText(lake, snapshot.snapshot))
  const folder = request.folder ?? copyFolder(lake, snapshot.snapshot)
  await makeCopy({ ...request, snapshot, snapshotSha256, folder })
  return openCopy({ folder, memoryBytes, threads })
}

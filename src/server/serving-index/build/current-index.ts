/**
 * From a lake to an open serving copy: finds the snapshot's copy, makes it where there is none or a damaged one, and opens
 * it.
 */

import { ToolkitError } from '../../../core/errors.ts'
import { readSnapshot, readSnapshotText } from '../../../manifest/snapshots.ts'
import { sha256Of } from '../../../support/hash.ts'
import { removeCopy } from '../index-folder.ts'
import { openCopy } from '../open-index.ts'
import type { ServingCopy } from '../serving-index.ts'
import { copyFolder, type MakeCopyRequest, makeCopy } from './build-index.ts'

export interface ServeCopyRequest extends Omit<MakeCopyRequest, 'snapshot' | 'snapshotSha256'> {
  /** Number of the snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /** Told why the copy in the lake cannot be used, before it is made anew. */
  readonly onUnusable?: ((reason: ToolkitError) => void) | undefined
}

/**
 * @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED; COPY_UNUSABLE where the copy is
 *   damaged and cannot be made anew: the lake cannot be written, or the folder is not the lake's own; what `makeCopy`
 *   throws
 */
export const serveCopy = async (request: ServeCopyRequest): Promise<ServingCopy> => {
  const { lake, memoryBytes, threads } = request
  const snapshot = await readSnapshot(lake, request.snapshot)
  const snapshotSha256 = sha256Of(await readSnapshotText(lake, snapshot.snapshot))
  const folder = request.folder ?? copyFolder(lake, snapshot.snapshot)
  const open = async (): Promise<ServingCopy> => {
    await makeCopy({ ...request, snapshot, snapshotSha256 })
    request.onProgress?.({ step: 'check', records: 0 })
    return openCopy({ folder, memoryBytes, threads })
  }
  try {
    return await open()
  } catch (error) {
    // What stands in another folder may be anything.
    if (!isUnusable(error) || request.folder !== undefined) throw error
    request.onUnusable?.(error)
    await removeCopy(folder).catch(() => {
      throw error
    })
    return open()
  }
}

const isUnusable = (error: unknown): error is ToolkitError =>
  error instanceof ToolkitError && error.code === 'COPY_UNUSABLE'

/**
 * From a lake to an open serving index: finds the snapshot's index, makes it where there is none or a damaged one, and opens
 * it.
 */

import { ToolkitError } from '../../../core/errors.ts'
import { readSnapshot, readSnapshotHash } from '../../../manifest/snapshots/snapshots.ts'
import { removeIndex } from '../index-folder.ts'
import { openIndex } from '../open-index.ts'
import type { ServingIndex } from '../session-pool.ts'
import { buildIndex, indexFolder } from './build-index.ts'
import type { BuildIndexRequest } from './build-request.ts'

export interface CurrentIndexRequest extends Omit<BuildIndexRequest, 'snapshot' | 'snapshotSha256'> {
  /** Number of the snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /** DuckDB's memory in bytes for the open index. @default as much as for the build */
  readonly servingBytes?: number | undefined
  /** Called with why the index in the lake cannot be used, before it is made again. */
  readonly onUnusable?: ((reason: ToolkitError) => void) | undefined
}

/**
 * @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED; INDEX_UNUSABLE where the index is
 *   damaged and cannot be made again: the lake cannot be written, or the folder is not the lake's own; what `buildIndex`
 *   throws
 */
export const currentIndex = async (request: CurrentIndexRequest): Promise<ServingIndex> => {
  const { lake, memoryBytes, servingBytes = memoryBytes, threads } = request
  const snapshot = await readSnapshot(lake, request.snapshot)
  const snapshotSha256 = await readSnapshotHash(lake, snapshot.snapshot)
  const folder = request.folder ?? indexFolder(lake, snapshot.snapshot)
  const open = async (): Promise<ServingIndex> => {
    await buildIndex({ ...request, snapshot, snapshotSha256 })
    request.onProgress?.({ step: 'check', records: 0 })
    return openIndex({ folder, memoryBytes: servingBytes, threads })
  }
  try {
    return await open()
  } catch (error) {
    // A folder that the caller named may hold anything: it is never removed.
    if (!isUnusable(error) || request.folder !== undefined) throw error
    request.onUnusable?.(error)
    await removeIndex(folder).catch(() => {
      throw error
    })
    return open()
  }
}

const isUnusable = (error: unknown): error is ToolkitError =>
  error instanceof ToolkitError && error.code === 'INDEX_UNUSABLE'

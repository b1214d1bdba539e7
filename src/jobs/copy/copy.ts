/** `copy`: a lake copied to another place, in one call. */

import { orInterrupted } from '../../core/errors.ts'
import { type CopyOptions, type CopySummary, copyLake } from './copy-lake.ts'

/**
 * Copies snapshots of a lake between folders and buckets: each file's hash is compared on the way, and the copy shows a
 * snapshot only when all of it is there. Given again it copies what is new; one that was killed goes on. What is made from a
 * lake (serving indexes, batch files, published tables) is not copied: make it from the copy.
 *
 * @returns what the copy has now, and what was copied; `kind: 'nothing'` where it had all
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `TARGET_REFUSED` where
 *   the place holds another lake or a newer copy, `COMMIT_CONFLICT`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`,
 *   `STORAGE_FAILED`, `INTERRUPTED`
 * @example
 * import { convert, copy } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { newest, snapshots } = await copy({ lake: './lake', to: './backup' })
 * console.log(newest, snapshots.length) // 1 1
 */
export const copy = (options: CopyOptions): Promise<CopySummary> =>
  orInterrupted('The copy', options.signal, () => copyLake(options))

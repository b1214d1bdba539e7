/** One staged file of a sink: written by the engine, on the disk, hashed. */

import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { CopyFormat, CopyReceipt, Relation } from '../core/relation.ts'
import { fsyncFile, fsyncFolder } from '../support/durable-files.ts'
import { hashFile } from '../support/hash.ts'

/** @throws {ToolkitError} DISK_FULL, WRITE_FAILED; the engine's own errors of the rows pass through */
export const stageFile = async (
  path: string,
  rows: Relation,
  format: CopyFormat,
): Promise<CopyReceipt & { readonly bytes: number; readonly sha256: string }> => {
  try {
    await mkdir(dirname(path), { recursive: true })
    await rm(path, { force: true })
  } catch (error) {
    throw writeError(`Cannot write "${path}"`, error)
  }
  const { rows: count, statistics } = await rows.copyTo(path, format)
  try {
    await fsyncFile(path)
    await fsyncFolder(dirname(path))
    const { bytes, sha256 } = await hashFile(path)
    return { rows: count, bytes, sha256, statistics }
  } catch (error) {
    throw writeError(`Cannot write "${path}"`, error)
  }
}

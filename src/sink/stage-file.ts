/** A staged file of a sink: written by the engine, on the disk, hashed. */

import { rm, rmdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { systemCode, writeError } from '../core/errors.ts'
import type { CopyFormat, CopyReceipt, TableRows } from '../core/sink.ts'
import { fsyncFile } from '../support/durable-files.ts'
import { adoptFile, makeFolders } from '../support/file-modes.ts'
import { hashFile } from '../support/hash.ts'
import { temporaryLiveness } from '../support/process-identity.ts'

export interface StagedFile extends CopyReceipt {
  readonly bytes: number
  readonly sha256: string
}

/** @throws {ToolkitError} DISK_FULL, WRITE_FAILED; the engine's own errors of the rows pass through */
export const stageFile = async (path: string, rows: TableRows, format: CopyFormat): Promise<StagedFile> => {
  try {
    await makeFolders(dirname(path))
    await rm(path, { force: true })
  } catch (error) {
    throw writeError(`Cannot write "${path}"`, error)
  }
  const { rows: count, statistics } = await rows.copyTo(path, format)
  try {
    await adoptFile(path)
    // A name that a power failure takes is missing when the run is resumed: the partition is loaded once more.
    await fsyncFile(path)
    const { bytes, sha256 } = await hashFile(path)
    return { rows: count, bytes, sha256, statistics }
  } catch (error) {
    throw writeError(`Cannot write "${path}"`, error)
  }
}

/** Removes a folder of staged files, where there is one. @throws {ToolkitError} WRITE_FAILED */
export const removeStaged = async (folder: string): Promise<void> => {
  try {
    await rm(folder, { recursive: true, force: true })
    // Without a folder from its caller a sink stages in one of its own, which goes with the last run in it.
    const staging = dirname(folder)
    if (temporaryLiveness(basename(staging)) !== null) await rmdir(staging).catch(() => undefined)
  } catch (error) {
    // A file stands where a folder above would: nothing was ever staged.
    if (systemCode(error) !== 'ENOTDIR') throw writeError(`Cannot remove "${folder}"`, error)
  }
}

/** Checks and syncs what a sink has published, before a snapshot lists it. */

import { ToolkitError, writeError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import { loadPath, PARTS_FOLDER, partPath, runOfPart } from '../lake/files/layout.ts'
import { LISTINGS, QUARANTINE, TABLES } from '../lake/tables/tables.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { sideBySide } from '../support/side-by-side.ts'

const FILES_AT_ONCE = 8

const checkFile = async (storage: Storage, file: FileEntry): Promise<void> => {
  const found = await storage.stat(file.path)
  if (found?.bytes === file.bytes) return
  const state = found ? `it has ${found.bytes} bytes, expected ${file.bytes}` : 'it is missing'
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot publish "${file.path}": ${state}`, { path: file.path })
}

/**
 * Checks that files are at their paths with their whole length, and syncs their names to the disk.
 *
 * @throws {ToolkitError} `RUN_NOT_RESUMABLE` when a file is missing or has another length, `DISK_FULL`,
 *   `WRITE_FAILED`
 */
export const confirmFiles = async (lake: string, files: readonly FileEntry[]): Promise<void> => {
  const storage = storageOf(lake)
  try {
    await sideBySide(files, FILES_AT_ONCE, (file) => checkFile(storage, file))
    await storage.sync(files.map(({ path }) => path))
  } catch (error) {
    throw writeError(`Cannot publish files in lake "${lake}"`, error)
  }
}

/** Removes all files of a run that is not committed from the tables, and its parts of a snapshot. */
export const discardLoaded = async (lake: string, run: string): Promise<void> => {
  const storage = storageOf(lake)
  for (const { name } of [...TABLES, QUARANTINE, LISTINGS]) {
    const placed = await storage.list(loadPath(name, run))
    if (placed.length > 0) await storage.remove(placed.map(({ path }) => path))
  }
  const parts = (await storage.entries(PARTS_FOLDER)).filter(({ name }) => runOfPart(name) === run)
  if (parts.length > 0) await storage.remove(parts.map(({ name }) => partPath(name)))
}

/** Removes files that will not be committed, and folders left empty. */
export const discardFiles = (lake: string, files: readonly FileEntry[]): Promise<void> =>
  storageOf(lake).remove([...new Set(files.map(({ path }) => path))])

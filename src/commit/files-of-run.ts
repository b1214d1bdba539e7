/**
 * The files of a run that is not committed yet: what an earlier attempt has staged is hashed, since damage would get a
 * snapshot of its own; what a sink has published is checked and synced before a snapshot lists it; the rest is discarded.
 */

import { ToolkitError, writeError } from '../core/errors.ts'
import type { FileEntry, PartitionEntry } from '../core/partition.ts'
import { inLake, loadPath, PARTS_FOLDER, partPath, runOfPart, stagedPath } from '../lake/files/layout.ts'
import { STORED_TABLES } from '../lake/tables/past-tables.ts'
import type { JournalEntry } from '../manifest/runs/journal-lines.ts'
import type { RunLease, SeenRun } from '../manifest/runs/run-lease.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { sideBySide } from '../support/side-by-side.ts'

const ENTRIES_AT_ONCE = 2

interface CheckedEntries {
  readonly whole: readonly JournalEntry[]
  /** Partitions of which a file is missing or not what was staged. */
  readonly damaged: readonly PartitionEntry[]
}

/** Hashes the files of finished partitions, staged or in their places already. */
export const checkStaged = async (
  { lake, run }: RunLease,
  entries: readonly JournalEntry[],
  signal?: AbortSignal,
): Promise<CheckedEntries> => {
  const storage = storageOf(lake)
  const checked = await sideBySide(
    entries,
    ENTRIES_AT_ONCE,
    async (entry) => {
      for (const file of entry.partition.files)
        if (!(await storage.isStaged(inLake(lake, stagedPath(run, file)), file, signal)))
          return { entry, whole: false }
      return { entry, whole: true }
    },
    signal,
  )
  return {
    whole: checked.flatMap(({ entry, whole }) => (whole ? [entry] : [])),
    damaged: checked.flatMap(({ entry, whole }) => (whole ? [] : [entry.partition])),
  }
}

/**
 * Hashes what others have put in place for a run, against what they recorded of it. A file that is missing is left to the
 * commit: another commit of the run may have removed what it needs no more.
 *
 * @throws {ToolkitError} `RUN_NOT_RESUMABLE`, naming the first file that is another one than was recorded
 */
export const checkPlaced = async (
  seen: SeenRun,
  entries: readonly JournalEntry[],
  signal?: AbortSignal,
): Promise<void> => {
  const { damaged } = await checkStaged(seen, entries, signal)
  const storage = storageOf(seen.lake)
  for (const { path, bytes, sha256 } of damaged.flatMap(({ files }) => files)) {
    const found = await storage.examine(path, { signal }, async (hash) => hash)
    if (found === null || (found.bytes === bytes && found.sha256 === sha256)) continue
    throw new ToolkitError(
      'RUN_NOT_RESUMABLE',
      `Cannot commit run "${seen.run}": "${path}" was changed after it was loaded (SHA-256 ${found.sha256}, expected ${sha256})`,
      { run: seen.run, path },
    )
  }
}

const FILES_AT_ONCE = 8

const checkFile = async (storage: Storage, file: FileEntry): Promise<void> => {
  const found = await storage.stat(file.path)
  if (found?.bytes === file.bytes) return
  const state = found ? `it has ${found.bytes} bytes, expected ${file.bytes}` : 'it is missing'
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot publish "${file.path}": ${state}`, { path: file.path })
}

/**
 * Checks that files are at their paths with their whole length.
 *
 * @throws {ToolkitError} `RUN_NOT_RESUMABLE` when a file is missing or has another length, `DISK_FULL`,
 *   `WRITE_FAILED`
 */
export const confirmFiles = async (lake: string, files: readonly FileEntry[]): Promise<void> => {
  const storage = storageOf(lake)
  try {
    await sideBySide(files, FILES_AT_ONCE, (file) => checkFile(storage, file))
  } catch (error) {
    throw writeError(`Cannot publish files in lake "${lake}"`, error)
  }
}

/** Removes all files of a run that is not committed from the tables, and its parts of a snapshot. */
export const discardLoaded = async (lake: string, run: string): Promise<void> => {
  const storage = storageOf(lake)
  for (const { name } of STORED_TABLES) {
    const placed = await storage.list(loadPath(name, run))
    if (placed.length > 0) await storage.remove(placed.map(({ path }) => path))
  }
  const parts = (await storage.entries(PARTS_FOLDER)).filter(({ name }) => runOfPart(name) === run)
  if (parts.length > 0) await storage.remove(parts.map(({ name }) => partPath(name)))
}

/** Removes files that will not be committed, and folders left empty. */
export const discardFiles = (lake: string, files: readonly FileEntry[]): Promise<void> =>
  storageOf(lake).remove([...new Set(files.map(({ path }) => path))])

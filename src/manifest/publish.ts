/** Moves staged files to their final places. No reader sees them there until a snapshot lists them. */

import { rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ToolkitError, writeError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import { inLake } from '../lake/layout.ts'
import { fsyncFile, fsyncFolders, moveIntoPlace } from '../support/durable-files.ts'
import { look } from '../support/list-files.ts'
import { sideBySide } from '../support/side-by-side.ts'
import type { Move } from './journal.ts'

const FILES_AT_ONCE = 8

const publishFile = async (lake: string, file: FileEntry, staged: string | undefined): Promise<void> => {
  const path = inLake(lake, file.path)
  const from = staged === undefined ? null : inLake(lake, staged)
  if (from !== null && (await look(from))) {
    // Before the move: afterwards the changed name would make each fsync a write of its own.
    await fsyncFile(from)
    await moveIntoPlace(from, path)
  }
  const found = await look(path)
  if (found?.bytes === file.bytes && found.kind === 'file') return
  const state = found ? `it has ${found.bytes} bytes, expected ${file.bytes}` : 'it is missing'
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot publish "${file.path}": ${state}`, { path: file.path })
}

const foldersOf = (lake: string, files: readonly FileEntry[]): Set<string> => {
  const folders = new Set([lake])
  for (const { path } of files) {
    const parts = path.split('/')
    for (let depth = 1; depth < parts.length; depth += 1)
      folders.add(inLake(lake, parts.slice(0, depth).join('/')))
  }
  return folders
}

/**
 * Moves files into place and brings them and their names to the disk. A file that an earlier try has moved
 * already is fine.
 *
 * @throws {ToolkitError} `RUN_NOT_RESUMABLE` when a file is in neither place or has another length,
 *   `DISK_FULL`, `WRITE_FAILED`
 */
export const publishFiles = async (
  lake: string,
  files: readonly FileEntry[],
  moves: readonly Move[],
): Promise<void> => {
  const staged = new Map(moves.map((move) => [move.path, move.staged]))
  try {
    await sideBySide(files, FILES_AT_ONCE, (file) => publishFile(lake, file, staged.get(file.path)))
    await fsyncFolders(foldersOf(lake, files))
  } catch (error) {
    throw writeError(`Cannot publish files in lake "${lake}"`, error)
  }
}

/** Removes files that will not be committed, from staging and from their places, and folders left empty. */
export const discardFiles = async (
  lake: string,
  files: readonly FileEntry[],
  moves: readonly Move[],
): Promise<void> => {
  const discarded = new Set(files.map(({ path }) => path))
  const staged = moves.filter(({ path }) => discarded.has(path)).map((move) => move.staged)
  for (const path of [...discarded, ...staged]) await rm(inLake(lake, path), { force: true })
  for (const folder of new Set([...discarded].map((path) => dirname(inLake(lake, path)))))
    await rmdir(folder).catch(() => undefined)
}

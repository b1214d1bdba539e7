/** What a sink has put into place, before a snapshot lists it: looked at, and brought to the disk. */

import { rm, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ToolkitError, writeError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import { inLake } from '../lake/layout.ts'
import { fsyncFolders } from '../support/durable-files.ts'
import { look } from '../support/list-files.ts'
import { sideBySide } from '../support/side-by-side.ts'

const FILES_AT_ONCE = 8

const checkFile = async (lake: string, file: FileEntry): Promise<void> => {
  const found = await look(inLake(lake, file.path))
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
 * Sees that files stand in their places with their whole length, and brings their names to the disk.
 *
 * @throws {ToolkitError} `RUN_NOT_RESUMABLE` when a file is missing or has another length, `DISK_FULL`,
 *   `WRITE_FAILED`
 */
export const confirmFiles = async (lake: string, files: readonly FileEntry[]): Promise<void> => {
  try {
    await sideBySide(files, FILES_AT_ONCE, (file) => checkFile(lake, file))
    await fsyncFolders(foldersOf(lake, files))
  } catch (error) {
    throw writeError(`Cannot publish files in lake "${lake}"`, error)
  }
}

/** Removes files that will not be committed, and folders left empty. */
export const discardFiles = async (lake: string, files: readonly FileEntry[]): Promise<void> => {
  const discarded = new Set(files.map(({ path }) => inLake(lake, path)))
  for (const path of discarded) await rm(path, { force: true })
  for (const folder of new Set([...discarded].map((path) => dirname(path))))
    await rmdir(folder).catch(() => undefined)
}

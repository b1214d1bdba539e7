/** Moves staged files to where readers look for them. Can be repeated after a crash in its midst. */

import { dirname } from 'node:path'
import { writeError } from '../core/errors.ts'
import { fsyncFolders, makeFolder, moveIntoPlace } from '../support/durable-files.ts'

export interface Placement {
  readonly from: string
  readonly to: string
}

/** @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
export const placeFiles = async (placements: readonly Placement[]): Promise<void> => {
  const folders = new Set(placements.map(({ to }) => dirname(to)))
  try {
    for (const folder of folders) await makeFolder(folder)
    for (const { from, to } of placements) await moveIntoPlace(from, to)
    await fsyncFolders(folders)
  } catch (error) {
    throw writeError('Cannot put staged files into place', error)
  }
}

/** Moves staged files to where readers look for them. Can be repeated after a crash in its midst. */

import { dirname } from 'node:path'
import { writeError } from '../core/errors.ts'
import { fsyncFolders, moveIntoPlace } from '../support/durable-files.ts'

export interface Placement {
  readonly from: string
  readonly to: string
}

/** @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
export const placeFiles = async (placements: readonly Placement[]): Promise<void> => {
  try {
    for (const { from, to } of placements) await moveIntoPlace(from, to)
    const folders = new Set(placements.map(({ to }) => dirname(to)))
    await fsyncFolders(folders)
    await fsyncFolders(new Set([...folders].map(dirname)))
  } catch (error) {
    throw writeError('Cannot put staged files into place', error)
  }
}

/** Files that are invisible until they are whole: written into a folder of their own beside the target, then moved. */

import { link, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import { fsyncFile, fsyncFolders, makeFolder } from '../../support/durable-files.ts'
import { adoptOutput, makeFolders } from '../../support/file-modes.ts'
import { listTree, removeLeftovers, statPath } from '../../support/list-files.ts'
import { temporaryName } from '../../support/process-identity.ts'

/** @throws {ToolkitError} `TARGET_REFUSED` */
const refuseExisting = (path: string): never => {
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot write "${path}": it exists; give --overwrite to replace it`,
  )
}

/** @throws {ToolkitError} `TARGET_REFUSED` where something stands in the way of a file */
export const checkTarget = async (path: string, overwrite: boolean): Promise<void> => {
  const there = await statPath(path)
  if (there?.kind === 'folder')
    throw new ToolkitError('TARGET_REFUSED', `Cannot write "${path}": it is a folder`)
  if (there && !overwrite) refuseExisting(path)
}

/**
 * The folder of a file is made where it is missing, those above it are not: a typo in a path must not become a tree.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const checkFolderOf = async (path: string): Promise<void> => {
  const above = dirname(dirname(resolve(path)))
  if ((await statPath(above))?.kind === 'folder') return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot write "${path}": there is no folder "${above}", expected at most the last folder to be missing`,
  )
}

export interface Workshop {
  /** The folder for unfinished files, absolute. */
  readonly folder: string
  /** Puts a finished file into its place. */
  readonly place: (from: string, to: string, overwrite: boolean) => Promise<void>
  /** Bytes of what stands in the folder. */
  readonly bytes: () => Promise<number>
  readonly remove: () => Promise<void>
}

/**
 * A new folder in `beside`, which is made where it is missing. Leftovers of killed processes there are removed.
 *
 * @throws {ToolkitError} DISK_FULL, WRITE_FAILED
 */
export const openWorkshop = async (beside: string): Promise<Workshop> => {
  const folder = join(resolve(beside), temporaryName())
  try {
    await makeFolder(dirname(folder))
    await removeLeftovers(dirname(folder))
    await makeFolders(folder)
  } catch (error) {
    throw writeError(`Cannot write into "${beside}"`, error)
  }
  return {
    folder,

    place: async (from, to, overwrite) => {
      try {
        await adoptOutput(from, dirname(to))
        await fsyncFile(from)
        if (overwrite) await rename(from, to)
        else await link(from, to)
        await fsyncFolders([dirname(to)])
      } catch (error) {
        if (systemCode(error) === 'EEXIST') refuseExisting(to)
        throw writeError(`Cannot write "${to}"`, error)
      }
    },

    bytes: async () => {
      const found = await listTree(folder)
      return found.reduce((sum, { bytes }) => sum + bytes, 0)
    },

    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

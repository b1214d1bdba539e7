/**
 * Cached files in a folder of this user that nobody else can write. A file that is missing, damaged or another user's is made
 * again; of two processes that write at once the last one wins.
 */

import { chmod, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolders, PRIVATE_FILE, PRIVATE_FOLDER } from './file-modes.ts'
import { removeLeftovers } from './list-files.ts'
import { temporaryName } from './process-identity.ts'
import { isPrivateFolder } from './work-base.ts'

/** Whether nobody else can write it. */
const isOwn = async (path: string): Promise<boolean> => {
  const { uid, mode } = await stat(path)
  const own = process.getuid?.()
  return own === undefined || (uid === own && (mode & 0o022) === 0)
}

/** @returns `undefined` where there is none, or one that others can write; never throws */
export const readCached = async (path: string): Promise<Buffer | undefined> => {
  try {
    return isPrivateFolder(dirname(path)) && (await isOwn(path)) ? await readFile(path) : undefined
  } catch {
    return undefined
  }
}

/**
 * Writes a file whole or not at all, and removes what killed processes left beside it.
 *
 * @throws what the file system throws: callers go on without
 */
export const writeCached = async (path: string, data: string | Uint8Array): Promise<void> => {
  const folder = dirname(path)
  await makeFolders(folder)
  await chmod(folder, PRIVATE_FOLDER)
  const temporary = join(folder, temporaryName())
  try {
    const handle = await open(temporary, 'wx', PRIVATE_FILE)
    try {
      await handle.writeFile(data)
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await removeLeftovers(folder)
}

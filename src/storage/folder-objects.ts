/** Files of a folder as objects: what stands there is read and written as in a bucket. */

import { createReadStream } from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { systemCode, writeError } from '../core/errors.ts'
import { makeFolders, PRIVATE_FILE } from '../support/file-modes.ts'
import { type FoundPath, listFolder, listTree, statPath } from '../support/list-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { checkPath, type ListedObject, type ObjectStore, type StoreAddress } from './object-store.ts'

/** @param address as messages name it */
export const folderObjects = (folder: string, address: StoreAddress): ObjectStore => {
  const absolute = (path: string): string => {
    checkPath(address, path)
    return join(folder, ...path.split('/'))
  }
  const listed = ({ path, bytes, changedMs }: FoundPath): ListedObject => ({
    path: relative(folder, path).split(sep).join('/'),
    ...{ bytes, changedMs },
  })
  const writing = async <T>(path: string, work: (to: string) => Promise<T>): Promise<T> => {
    try {
      // A folder's marker is its folder.
      const to = absolute(path.replace(/\/$/, ''))
      await makeFolders(path.endsWith('/') ? to : dirname(to))
      return await work(to)
    } catch (error) {
      throw writeError(`Cannot write "${address.uri}/${path}"`, error)
    }
  }
  /** Under another name first: nobody reads half of it. */
  const place = async (to: string, write: (temporary: string) => Promise<void>): Promise<void> => {
    const temporary = join(dirname(to), temporaryName())
    await write(temporary)
    await rename(temporary, to)
  }
  const write = async (to: string, data: Uint8Array, flags: 'wx' | 'w'): Promise<void> => {
    const file = await open(to, flags, PRIVATE_FILE)
    await file.writeFile(data).finally(() => file.close())
  }
  return {
    address,
    head: async (path) => {
      const found = await statPath(absolute(path))
      return found?.kind === 'file' ? listed(found) : null
    },
    get: async (path, { range, signal } = {}) => {
      const found = await statPath(absolute(path))
      if (found?.kind !== 'file') return null
      const part = range && { start: range.from, end: Math.max(range.from, range.to - 1) }
      const stream = createReadStream(found.path, { ...part, signal })
      return { stream, bytes: found.bytes, etag: `${found.bytes}-${found.changedMs}` }
    },
    put: (path, data) =>
      writing(path, async (to) => {
        if (!path.endsWith('/')) await place(to, (temporary) => write(temporary, data, 'w'))
      }),
    putIfAbsent: (path, data) =>
      writing(path, async (to) => {
        try {
          await write(to, data, 'wx')
          return true
        } catch (error) {
          if (systemCode(error) === 'EEXIST') return false
          throw error
        }
      }),
    putFile: (from, { path }) => writing(path, (to) => place(to, (temporary) => copyFile(from, temporary))),
    list: async function* (prefix, { folders = false } = {}) {
      const above = prefix.slice(0, prefix.lastIndexOf('/') + 1).replace(/\/$/, '')
      const root = above === '' ? folder : absolute(above)
      if (!folders) {
        const own = await statPath(root)
        for (const found of [...(own ? [own] : []), ...(await listTree(root))]) {
          const one = listed(found)
          // Folders that hold nothing are found too, by their markers.
          const path = found.kind === 'folder' ? `${one.path}/` : one.path
          if (path.startsWith(prefix)) yield { ...one, path }
        }
        return
      }
      for (const entry of await listFolder(root)) {
        const path = above === '' ? entry.name : `${above}/${entry.name}`
        if (!path.startsWith(prefix)) continue
        if (entry.isDirectory()) yield { path: `${path}/`, bytes: 0, changedMs: 0 }
        else {
          const found = await statPath(join(root, entry.name))
          if (found?.kind === 'file') yield listed(found)
        }
      }
    },
    delete: async (paths) => {
      for (const path of paths) await rm(absolute(path), { force: true, recursive: path.endsWith('/') })
    },
  }
}

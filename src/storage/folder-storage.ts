/** A folder of this machine's file system, with hard links. */

import { type FileHandle, open, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openFilesError, systemCode, writeError } from '../core/errors.ts'
import {
  createIfAbsent,
  fsyncFolder,
  fsyncFolders,
  LineAppender,
  makeFolder,
  moveIntoPlace,
  removeIfThere,
  replaceDurably,
} from '../support/durable-files.ts'
import { makeFolders, refuseLinks } from '../support/file-modes.ts'
import { hashFile } from '../support/hash.ts'
import { listFolder, listTree, statPath } from '../support/list-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { damagedFile, findMisfits, isWhole } from './check-files.ts'
import type { StagedPlacement, Storage, StoredFile } from './storage.ts'

const NEWLINE = 10
const CHUNK_BYTES = 1024 * 1024
/** Errors of `rename` for a folder that another one stands in the way of. */
const TAKEN = new Set(['ENOTEMPTY', 'EEXIST'])

/** A promise's outcome. Where no further file may be opened it says so: a failed read is taken for damage by its callers. */
const reading = async <T>(path: string, promise: Promise<T>): Promise<T> => {
  try {
    return await promise
  } catch (error) {
    throw openFilesError(`Cannot read "${path}"`, error) ?? error
  }
}

/** The same, `null` where the file or a folder above it is missing. */
const orNull = async <T>(path: string, promise: Promise<T>): Promise<T | null> => {
  try {
    return await reading(path, promise)
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null
    throw error
  }
}

/** Whole lines of a file, which is closed then. All stand in one memory: of long lines copies would be collected late. */
async function* wholeLines(file: FileHandle): AsyncGenerator<Buffer, void> {
  let memory = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let held = 0
  try {
    for (;;) {
      if (held === memory.length) memory = Buffer.concat([memory], 2 * held)
      const { bytesRead } = await file.read(memory, held)
      if (bytesRead === 0) return
      const read = memory.subarray(0, held + bytesRead)
      let from = 0
      for (let end = read.indexOf(NEWLINE, held); end !== -1; end = read.indexOf(NEWLINE, from)) {
        yield read.subarray(from, end)
        from = end + 1
      }
      held = read.copy(memory, 0, from)
    }
  } finally {
    await file.close()
  }
}

export const folderStorage = (folder: string): Storage => {
  const absolute = (path: string): string => join(folder, ...path.split('/'))
  /** The folder may be a link, what stands in it may not lead out. */
  const inside = { within: folder }
  const stored = ({ path, bytes, changedMs }: StoredFile): StoredFile => ({
    path: relative(folder, path).split(sep).join('/'),
    bytes,
    changedMs,
  })
  const foldersOf = (paths: readonly string[]): Set<string> => {
    const folders = new Set([folder])
    for (const path of paths)
      for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(absolute(at))
    return folders
  }
  const makeIn = async (path: string, syncsName = true): Promise<void> => {
    if (syncsName) await makeFolder(path, inside)
    else await makeFolders(path, inside)
  }
  const writing = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw writeError(`Cannot write ${what} of "${folder}"`, error)
    }
  }
  const fetch: Storage['fetch'] = async (files, options = {}) => {
    const [first] = await findMisfits(files, absolute, options)
    if (first) throw damagedFile(first)
  }

  return {
    address: folder,
    local: folder,
    isRemote: false,
    // As it is, not percent-encoded: that is how Hadoop, PyIceberg and DuckDB take it.
    uri: decodeURIComponent(pathToFileURL(resolve(folder)).href),

    prepare: (folders, mode) =>
      writing('folders', async () => {
        const made: string[] = []
        for (const path of folders) made.push(...(await makeFolders(absolute(path), { ...inside, mode })))
        await fsyncFolders(made.map((path) => dirname(path)))
      }),

    hasFolder: async (path) => (await statPath(absolute(path)))?.kind === 'folder',

    stat: async (path) => {
      const found = await reading(path, statPath(absolute(path)))
      return found?.kind === 'file' ? stored(found) : null
    },

    list: async (path) => {
      const found = await reading(path, listTree(absolute(path)))
      return found
        .filter(({ kind }) => kind === 'file')
        .map(stored)
        .sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    entries: async (path) =>
      (await reading(path, listFolder(absolute(path)))).map((entry) => ({
        name: entry.name,
        kind: entry.isDirectory() ? 'folder' : 'file',
      })),

    read: (path) => orNull(path, readFile(absolute(path))),

    create: (path, data, syncsName = true) =>
      writing(`"${path}"`, async () => {
        await makeIn(dirname(absolute(path)), syncsName)
        return createIfAbsent(absolute(path), data, { syncsName })
      }),

    createFolder: (path, files) =>
      writing(`"${path}"`, async () => {
        const parent = dirname(absolute(path))
        const building = join(parent, temporaryName())
        try {
          await makeFolders(building, inside)
          for (const [name, text] of files)
            await createIfAbsent(join(building, name), text, { syncsName: false })
          await fsyncFolder(building)
          await rename(building, absolute(path))
        } catch (error) {
          await removeIfThere(building)
          if (TAKEN.has(systemCode(error) ?? '')) return false
          throw error
        }
        await fsyncFolder(parent)
        return true
      }),

    replace: (path, data, options = {}) =>
      writing(`"${path}"`, async () => {
        await makeIn(dirname(absolute(path)), options.syncsName)
        await replaceDurably(absolute(path), data, options)
      }),

    remove: (paths) =>
      writing('files', async () => {
        await refuseLinks(folder, ...paths.map((path) => dirname(absolute(path))))
        for (const path of paths) await rm(absolute(path), { force: true })
        for (const above of new Set(paths.map((path) => dirname(absolute(path)))))
          await rmdir(above).catch(() => undefined)
      }),

    removeFolder: (path) =>
      writing(`"${path}"`, async () => {
        await refuseLinks(folder, dirname(absolute(path)))
        const removed = join(dirname(absolute(path)), temporaryName())
        if (
          (await orNull(
            path,
            rename(absolute(path), removed).then(() => true),
          )) === null
        )
          return
        // A call that had found the folder before may still end in it: the last few.
        await rm(removed, { recursive: true, force: true, maxRetries: 3 })
      }),

    stage: async () => undefined,

    isStaged: async (from, to, signal) =>
      isWhole((await statPath(from)) ? from : absolute(to.path), to, signal),

    publish: (placements: readonly StagedPlacement[]) =>
      writing('staged files', async () => {
        const folders = new Set(placements.map(({ to }) => dirname(absolute(to))))
        for (const one of folders) await makeFolders(one, inside)
        for (const { from, to } of placements) await moveIntoPlace(from, absolute(to), inside)
      }),

    sync: (paths) => writing('files', () => fsyncFolders(foldersOf(paths))),

    fetch,
    fetchTo: async (_, files, options) => {
      await fetch(files, options)
      return folder
    },

    examine: async (path, options, use) => {
      const hash = await orNull(path, hashFile(absolute(path), options))
      return hash && (await use(hash, absolute(path)))
    },

    readLines: async (path) => {
      const file = await orNull(path, open(absolute(path)))
      return file && wholeLines(file)
    },

    openLines: (path, keepLines = Number.POSITIVE_INFINITY) =>
      writing(`"${path}"`, async () => {
        const file = await orNull(path, open(absolute(path)))
        if (file === null) {
          await makeFolder(dirname(absolute(path)), inside)
          await createIfAbsent(absolute(path), '')
        }
        let sizeBytes = 0
        let count = 0
        for await (const line of file ? wholeLines(file) : [])
          if (count++ < keepLines) sizeBytes += line.length + 1
        const lines = await LineAppender.open(absolute(path), sizeBytes)
        return { append: (line) => lines.append(line), close: () => lines.close() }
      }),
  }
}

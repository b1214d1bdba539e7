/** A folder of this machine's file system, with hard links. */

import { readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemCode, ToolkitError, writeError } from '../core/errors.ts'
import {
  createIfAbsent,
  fsyncFolders,
  LineAppender,
  makeFolder,
  moveIntoPlace,
  replaceDurably,
} from '../support/durable-files.ts'
import { listTree, look } from '../support/list-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import type { Placement, Storage, StoredFile } from './storage.ts'

const NEWLINE = 10

/** A promise's outcome, `null` where the file or a folder above it is missing. */
const orNull = async <T>(promise: Promise<T>): Promise<T | null> => {
  try {
    return await promise
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null
    throw error
  }
}

const wholeLines = (bytes: Buffer): { readonly lines: readonly Buffer[]; readonly sizeBytes: number } => {
  const lines: Buffer[] = []
  let from = 0
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
    lines.push(bytes.subarray(from, end))
    from = end + 1
  }
  return { lines, sizeBytes: from }
}

export const folderStorage = (folder: string): Storage => {
  const absolute = (path: string): string => join(folder, ...path.split('/'))
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
  const writing = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw writeError(`Cannot write ${what} of "${folder}"`, error)
    }
  }

  return {
    address: folder,
    local: folder,
    uri: pathToFileURL(resolve(folder)).href,

    prepare: (folders) =>
      writing('folders', async () => {
        for (const path of folders) await makeFolder(absolute(path))
      }),

    look: async (path) => {
      const found = await look(absolute(path))
      return found?.kind === 'file' ? stored(found) : null
    },

    list: async (path) => {
      const found = await listTree(absolute(path))
      return found
        .filter(({ kind }) => kind === 'file')
        .map(stored)
        .sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    read: (path) => orNull(readFile(absolute(path))),

    create: (path, data) =>
      writing(`"${path}"`, async () => {
        await makeFolder(dirname(absolute(path)))
        return createIfAbsent(absolute(path), data)
      }),

    replace: (path, data) =>
      writing(`"${path}"`, async () => {
        await makeFolder(dirname(absolute(path)))
        await replaceDurably(absolute(path), data)
      }),

    remove: async (paths) => {
      for (const path of paths) await rm(absolute(path), { force: true })
      for (const above of new Set(paths.map((path) => dirname(absolute(path)))))
        await rmdir(above).catch(() => undefined)
    },

    removeFolder: async (path) => {
      const removed = join(dirname(absolute(path)), temporaryName())
      if ((await orNull(rename(absolute(path), removed).then(() => true))) === null) return
      await rm(removed, { recursive: true, force: true })
    },

    keep: async () => undefined,

    place: (placements: readonly Placement[]) =>
      writing('staged files', async () => {
        const folders = new Set(placements.map(({ to }) => dirname(absolute(to))))
        for (const one of folders) await makeFolder(one)
        for (const { from, to } of placements) await moveIntoPlace(from, absolute(to))
        await fsyncFolders(folders)
      }),

    settle: (paths) => writing('files', () => fsyncFolders(foldersOf(paths))),

    fetch: async () => undefined,

    readLines: async (path) => {
      const bytes = await orNull(readFile(absolute(path)))
      return bytes && wholeLines(bytes).lines
    },

    openLines: (path) =>
      writing(`"${path}"`, async () => {
        const bytes = await orNull(readFile(absolute(path)))
        if (bytes === null) {
          await makeFolder(dirname(absolute(path)))
          await createIfAbsent(absolute(path), '')
        }
        const lines = await LineAppender.open(absolute(path), bytes ? wholeLines(bytes).sizeBytes : 0)
        return { append: (line) => lines.append(line), close: () => lines.close() }
      }),
  }
}

/** @throws {ToolkitError} `USAGE` */
export const refuseAddress = (address: string): never => {
  throw new ToolkitError(
    'USAGE',
    `Cannot use "${address}" as a lake: expected a folder or s3://bucket/prefix`,
  )
}

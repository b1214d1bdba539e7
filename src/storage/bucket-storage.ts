/** A lake in a bucket: what an object store lacks of a storage, the same over every kind of it. */

import { rm } from 'node:fs/promises'
import { ToolkitError, writeError } from '../core/errors.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { statPath } from '../support/list-files.ts'
import { atMost, sideBySide } from '../support/side-by-side.ts'
import { copiesOf } from './bucket-copies.ts'
import { isWhole } from './check-files.ts'
import { checkPath, type ListedObject, nameOf, type ObjectStore } from './object-store.ts'
import { serveRanges } from './range-server.ts'
import { readEnd, readWhole } from './read-object.ts'
import type { FileFacts, LineLog, Storage, StoredEntry, StoredFile } from './storage.ts'
import { makeWorkFolder } from './work-folder.ts'

/** An object by which writers see that the endpoint keeps to conditions. It is no file of the lake. */
const CONDITIONS_PATH = '.conditional-writes'

/** Objects that are no files. */
const isMarker = (path: string): boolean => path === '' || path.endsWith('/') || path === CONDITIONS_PATH

/** Beginning of all paths below a folder; `''` is the whole lake. */
const below = ({ address }: ObjectStore, folder: string): string => {
  if (folder === '') return ''
  checkPath(address, folder)
  return `${folder}/`
}

/** Everything whose path begins with a text, markers of folders too (their paths end with a slash). */
const listAllOf = async (store: ObjectStore, prefix: string): Promise<ListedObject[]> => {
  const found: ListedObject[] = []
  for await (const one of store.list(prefix)) found.push(one)
  // The order of JavaScript's texts, as of a folder; a bucket has that of UTF-8.
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Files whose paths begin with a text, in any folder. */
const listBeginning = async (store: ObjectStore, start: string): Promise<StoredFile[]> => {
  checkPath(store.address, start)
  return (await listAllOf(store, start)).filter(({ path }) => !isMarker(path))
}

const listFiles = async (store: ObjectStore, folder: string): Promise<StoredFile[]> =>
  (await listAllOf(store, below(store, folder))).filter(({ path }) => !isMarker(path))

/** Objects that make a folder: its files, and the markers of it and of folders in it, the innermost first. */
export const listAll = async (
  store: ObjectStore,
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly markers: readonly string[] }> => {
  const paths = (await listAllOf(store, below(store, folder))).map(({ path }) => path)
  return {
    files: paths.filter((path) => !isMarker(path)),
    markers: paths.filter((path) => path !== '' && isMarker(path)).reverse(),
  }
}

const listEntries = async (store: ObjectStore, folder: string): Promise<StoredEntry[]> => {
  const prefix = below(store, folder)
  const entries: StoredEntry[] = []
  for await (const { path } of store.list(prefix, { folders: true })) {
    const name = path.slice(prefix.length)
    if (name.endsWith('/')) entries.push({ name: name.slice(0, -1), kind: 'folder' })
    else if (name !== '' && !isMarker(path)) entries.push({ name, kind: 'file' })
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const hasFilesBelow = async (store: ObjectStore, folder: string): Promise<boolean> => {
  for await (const _ of store.list(below(store, folder), { pageSize: 1 })) return true
  return false
}

const { LINE_FEED } = JSON_BYTES

const LINES_AT_ONCE = 16
const DIGITS = 8

/** Lines count from 1. */
const lineName = (path: string, number: number): string =>
  `${path}.lines/${String(number).padStart(DIGITS, '0')}`

const missing = (store: ObjectStore, path: string, line: number): ToolkitError =>
  new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read log "${nameOf(store, path)}": line ${line} is missing, or the log is being removed just now`,
    { path, line },
  )

/** How many lines a log has; `null` where there is none. @throws {ToolkitError} `LAKE_DAMAGED` when one is missing */
const countLines = async (store: ObjectStore, path: string): Promise<number | null> => {
  const found = await listBeginning(store, path)
  const lines = found.filter((file) => file.path.startsWith(`${path}.lines/`))
  for (const [at, file] of lines.entries())
    if (file.path !== lineName(path, at + 1)) throw missing(store, path, at + 1)
  return lines.length > 0 || found.some((file) => file.path === path) ? lines.length : null
}

const readLog = async (store: ObjectStore, path: string): Promise<readonly Buffer[] | null> => {
  const count = await countLines(store, path)
  if (count === null) return null
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  return await sideBySide(numbers, LINES_AT_ONCE, async (number) => {
    const bytes = await readWhole(store, lineName(path, number))
    if (bytes === null) throw missing(store, path, number)
    return bytes.at(-1) === LINE_FEED ? bytes.subarray(0, -1) : bytes
  })
}

export const openLog = async (
  store: ObjectStore,
  path: string,
  keepLines = Number.POSITIVE_INFINITY,
): Promise<LineLog> => {
  const found = await countLines(store, path)
  if (found === null) await store.putIfAbsent(path, Buffer.alloc(0))
  let count = found ?? 0
  // From the end and one by one: whenever this stops, what is left is a whole log.
  for (; count > keepLines; count -= 1) await store.delete([lineName(path, count)])
  let last: Promise<void> = Promise.resolve()
  const append = async (number: number, line: string): Promise<void> => {
    if (await store.putIfAbsent(lineName(path, number), Buffer.from(`${line}\n`))) return
    throw new ToolkitError(
      'STORAGE_FAILED',
      `Cannot append to log "${nameOf(store, path)}": another process wrote line ${number}, expected one writer`,
      { path, line: number },
    )
  }
  return {
    append: (line) => {
      count += 1
      const number = count
      last = last.then(() => append(number, line))
      return last
    },
    close: () => last.catch(() => undefined),
  }
}

const LOOKS_AT_ONCE = 16
const UPLOADS_AT_ONCE = 2
const CONDITIONS_TEXT = Buffer.from('Each run tries to create this object again and must not succeed.\n')
const NO_BYTES = Buffer.alloc(0)

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? Buffer.from(data) : data

/**
 * Refuses an endpoint that overwrites where it must not: on it two runs at once would lose one's commit.
 *
 * @throws {ToolkitError} `STORAGE_REFUSED`
 */
const proveConditions = async (store: ObjectStore): Promise<void> => {
  // There already, in all runs but a lake's first: one request, refused as it should be.
  if (!(await store.putIfAbsent(CONDITIONS_PATH, CONDITIONS_TEXT))) return
  if (!(await store.putIfAbsent(CONDITIONS_PATH, CONDITIONS_TEXT))) return
  throw new ToolkitError(
    'STORAGE_REFUSED',
    `Cannot write to "${store.address.uri}": the endpoint ignores If-None-Match, which keeps runs from overwriting each other's commits`,
  )
}

/**
 * The storage over an object store. Nothing is loaded or asked before the first call.
 *
 * @param address as a person gave it
 * @param local its work folder on this machine
 */
export const bucketStorage = (address: string, local: string, store: ObjectStore): Required<Storage> => {
  const copies = copiesOf(store, local)
  const uploading = atMost(UPLOADS_AT_ONCE)
  let proven: Promise<void> | undefined

  const upload = async (from: string, to: FileFacts): Promise<void> => {
    const name = nameOf(store, to.path)
    if ((await statPath(from)) === null) {
      // A run that resumes after a crash between the upload and the removal of the staged file.
      const stored = await copies.examine(to.path, {}, async ({ bytes, sha256 }) => ({ bytes, sha256 }))
      if (stored?.bytes === to.bytes && stored.sha256 === to.sha256) return
      throw new ToolkitError('WRITE_FAILED', `Cannot store "${name}": the staged file "${from}" is missing`)
    }
    await store.putFile(from, to)
    try {
      await rm(from, { force: true })
    } catch (error) {
      throw writeError(`Cannot remove staged file "${from}"`, error)
    }
  }

  return {
    address,
    local,
    isRemote: true,
    uri: store.address.uri,

    prepare: async (folders) => {
      await makeWorkFolder(local)
      proven ??= proveConditions(store).catch((error: unknown) => {
        proven = undefined
        throw error
      })
      await proven
      for (const folder of folders)
        if (!(await hasFilesBelow(store, folder))) await store.put(`${folder}/`, NO_BYTES)
    },
    hasFolder: (folder) => hasFilesBelow(store, folder),
    stat: (path) => store.head(path),
    list: (folder) => listFiles(store, folder),
    entries: (folder) => listEntries(store, folder),
    read: (path) => readWhole(store, path),
    create: (path, data) => store.putIfAbsent(path, bytesOf(data)),
    createFolder: async (folder, files) => {
      // The process that creates the first file creates the rest; it is removed before the others.
      for (const [name, text] of files)
        if (!(await store.putIfAbsent(`${folder}/${name}`, bytesOf(text)))) return false
      return true
    },
    replace: (path, data) => store.put(path, bytesOf(data)),
    remove: async (paths) => {
      await store.delete(paths)
      for (const path of paths) await copies.forget(path)
    },
    removeFolder: async (folder, first) => {
      const { files, markers } = await listAll(store, folder)
      const ahead = files.filter((path) => path === `${folder}/${first}`)
      await store.delete(ahead)
      await store.delete(files.filter((path) => !ahead.includes(path)))
      for (const marker of markers) await store.delete([marker])
      await copies.forget(folder)
    },

    stage: (from, to) => uploading(() => upload(from, to)),
    isStaged: async (from, to, signal) =>
      // Objects in the bucket were compared when they were sent.
      (await statPath(from)) ? isWhole(from, to, signal) : (await store.head(to.path))?.bytes === to.bytes,
    publish: async (placements) => {
      await sideBySide(placements, LOOKS_AT_ONCE, async ({ to }) => {
        if ((await store.head(to)) === null)
          throw new ToolkitError(
            'STORAGE_FAILED',
            `Cannot publish "${nameOf(store, to)}": it is not in the bucket`,
            {
              path: to,
            },
          )
      })
    },
    sync: async () => undefined,
    fetch: copies.fetch,
    fetchTo: copies.fetchTo,
    serveRanges: () => serveRanges(store),
    readEnd: (file, bytes) => readEnd(store, file, bytes),

    examine: copies.examine,

    readLines: (path) => readLog(store, path),
    openLines: (path, keepLines) => openLog(store, path, keepLines),
  }
}

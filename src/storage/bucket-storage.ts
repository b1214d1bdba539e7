/** A lake in a bucket: what an object store lacks of a storage, the same over every kind of it. */

import { rm } from 'node:fs/promises'
import { ToolkitError, writeError } from '../core/errors.ts'
import { statPath } from '../support/list-files.ts'
import { atMost, sideBySide } from '../support/side-by-side.ts'
import { copiesOf } from './bucket-copies.ts'
import { CONDITIONS_PATH, hasFilesBelow, listAll, listEntries, listFiles } from './bucket-list.ts'
import { openLog, readLog } from './bucket-log.ts'
import { isWhole } from './check-files.ts'
import type { ObjectStore } from './object-store.ts'
import { serveRanges } from './range-server.ts'
import { readWhole } from './read-object.ts'
import type { FileFacts, Storage } from './storage.ts'
import { nameOf } from './store-paths.ts'
import { makeWorkFolder, workFolder } from './work-folder.ts'

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
 */
export const bucketStorage = (address: string, store: ObjectStore): Storage => {
  const local = workFolder(store.address, process.env)
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
      // Whoever creates the first file creates the rest; it is removed before the others.
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
      // What stands in the bucket was compared when it was sent.
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

    examine: copies.examine,

    readLines: (path) => readLog(store, path),
    openLines: (path, keepLines) => openLog(store, path, keepLines),
  }
}

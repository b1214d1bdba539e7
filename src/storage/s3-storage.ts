/** A prefix of a bucket, on AWS or any endpoint that speaks S3. Credentials come from the SDK's usual chain. */

import { rm } from 'node:fs/promises'
import { ToolkitError, writeError } from '../core/errors.ts'
import { look } from '../support/list-files.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { parseS3Address, workFolder } from './s3-address.ts'
import { copiesOf } from './s3-copies.ts'
import { CONDITIONS_PATH, hasKeysBelow, listAll, listEntries, listFiles } from './s3-list.ts'
import { openLog, readLog } from './s3-log.ts'
import { S3Objects } from './s3-objects.ts'
import { removeObjects } from './s3-remove.ts'
import { uploadFile } from './s3-upload.ts'
import { makeWorkFolder } from './s3-work-folder.ts'
import type { FileFacts, Storage } from './storage.ts'

const LOOKS_AT_ONCE = 16
const UPLOADS_AT_ONCE = 2
const CONDITIONS_TEXT = 'Each run tries to create this object again and must not succeed.\n'

/** Lets at most `most` of the works at once, the others wait in the order in which they came. */
const gate = (most: number): (<T>(work: () => Promise<T>) => Promise<T>) => {
  const waiting: (() => void)[] = []
  let free = most
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}

/**
 * Refuses an endpoint that overwrites where it must not: on it two runs at once would lose one's commit.
 *
 * @throws {ToolkitError} `STORAGE_REFUSED`
 */
const proveConditions = async (objects: S3Objects): Promise<void> => {
  // There already, in all runs but a lake's first: one request, refused as it should be.
  if (!(await objects.create(CONDITIONS_PATH, CONDITIONS_TEXT))) return
  if (!(await objects.create(CONDITIONS_PATH, CONDITIONS_TEXT))) return
  throw new ToolkitError(
    'STORAGE_REFUSED',
    `Cannot write to "${objects.address.uri}": the endpoint ignores If-None-Match, which keeps runs from overwriting each other's commits`,
  )
}

/**
 * The storage of an address `s3://bucket/prefix`. Nothing is loaded or asked before the first call.
 *
 * @throws {ToolkitError} `USAGE` for an address that names no place in a bucket
 */
export const s3Storage = (address: string): Storage => {
  const place = parseS3Address(address)
  const objects = new S3Objects(place)
  const local = workFolder(place, process.env)
  const copies = copiesOf(objects, local)
  const uploading = gate(UPLOADS_AT_ONCE)
  let proven: Promise<void> | undefined

  const upload = async (from: string, to: FileFacts): Promise<void> => {
    const name = objects.name(to.path)
    if ((await look(from)) === null) {
      // A run that goes on after a crash between the upload and the end of the staged file.
      const kept = await copies.examine(to.path, {}, async ({ bytes, sha256 }) => ({ bytes, sha256 }))
      if (kept?.bytes === to.bytes && kept.sha256 === to.sha256) return
      throw new ToolkitError('WRITE_FAILED', `Cannot store "${name}": the staged file "${from}" is missing`)
    }
    await objects.run(`Cannot store "${name}"`, (s3) => uploadFile(s3, objects.at(to.path), from, to, name))
    try {
      await rm(from, { force: true })
    } catch (error) {
      throw writeError(`Cannot remove staged file "${from}"`, error)
    }
  }

  return {
    address,
    local,
    uri: place.uri,

    prepare: async (folders) => {
      await makeWorkFolder(local)
      await objects.reach()
      proven ??= proveConditions(objects).catch((error: unknown) => {
        proven = undefined
        throw error
      })
      await proven
      for (const folder of folders) if (!(await hasKeysBelow(objects, folder))) await objects.mark(folder)
    },
    hasFolder: (folder) => hasKeysBelow(objects, folder),
    look: (path) => objects.look(path),
    list: (folder) => listFiles(objects, folder),
    entries: (folder) => listEntries(objects, folder),
    read: (path) => objects.read(path),
    create: (path, data) => objects.create(path, data),
    createFolder: async (folder, files) => {
      // Whoever creates the first one goes on; it is gone before the others when the folder is removed.
      for (const [name, text] of files) if (!(await objects.create(`${folder}/${name}`, text))) return false
      return true
    },
    replace: (path, data) => objects.replace(path, data),
    remove: async (paths) => {
      await removeObjects(objects, paths)
      for (const path of paths) await copies.forget(path)
    },
    removeFolder: async (folder, first) => {
      const { files, markers } = await listAll(objects, folder)
      const ahead = files.filter((path) => path === `${folder}/${first}`)
      await removeObjects(objects, ahead)
      await removeObjects(
        objects,
        files.filter((path) => !ahead.includes(path)),
      )
      for (const marker of markers) await removeObjects(objects, [marker])
      await copies.forget(folder)
    },

    keep: (from, to) => uploading(() => upload(from, to)),
    place: async (placements) => {
      await sideBySide(placements, LOOKS_AT_ONCE, async ({ to }) => {
        if ((await objects.look(to)) === null)
          throw new ToolkitError(
            'STORAGE_FAILED',
            `Cannot place "${objects.name(to)}": it is not in the bucket`,
            {
              path: to,
            },
          )
      })
    },
    settle: async () => undefined,
    fetch: copies.fetch,

    examine: copies.examine,

    readLines: (path) => readLog(objects, path),
    openLines: (path, keepLines) => openLog(objects, path, keepLines),
  }
}

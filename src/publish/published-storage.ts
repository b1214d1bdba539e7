/**
 * The storage as publications write to it: beside each file that is made once, its hash, by which `verify` and the
 * next publisher find a changed byte. Files that are written again (a version's hint) have none.
 */

import { ToolkitError } from '../core/errors.ts'
import { publishedHash, publishedHashPath, readPublishedHash } from '../lake/files/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { sha256Of } from '../support/hash.ts'

/** Files that are written again have no hash. */
const REWRITTEN = /\/(version-hint\.text|_last_checkpoint)$/

export const publishedStorage = (lake: string): Storage => {
  const storage = storageOf(lake)
  return {
    ...storage,

    create: async (path, data) => {
      const created = await storage.create(path, data)
      // After the file: without its hash it is whole all the same. Verify says that it has none, and the next reader writes it.
      if (created) await storage.replace(publishedHashPath(path), publishedHash(data))
      return created
    },

    read: async (path) => {
      const bytes = await storage.read(path)
      if (bytes === null) return null
      const record = await storage.read(publishedHashPath(path))
      const expected = record && readPublishedHash(record)
      // The publisher was killed between file and hash. A reader who may not write reads on.
      if (record === null && !REWRITTEN.test(path))
        await storage.replace(publishedHashPath(path), publishedHash(bytes)).catch(() => undefined)
      if (expected === null || expected === sha256Of(bytes)) return bytes
      throw new ToolkitError(
        'LAKE_DAMAGED',
        `Cannot read published file "${path}": it does not match its hash in "${publishedHashPath(path)}"`,
        { path },
      )
    },

    remove: async (paths) => {
      // Before the file, so that no hash is left without one.
      await storage.remove(paths.map(publishedHashPath))
      await storage.remove(paths)
    },
  }
}

/** The hash of a published file, as it stands beside it. @throws {ToolkitError} `LAKE_DAMAGED` where it does not */
export const readRecordedHash = async (lake: string, path: string): Promise<string> => {
  const record = await storageOf(lake).read(publishedHashPath(path))
  const sha256 = record && readPublishedHash(record)
  if (sha256) return sha256
  throw new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read published file "${path}": its hash in "${publishedHashPath(path)}" is missing or damaged`,
    { path },
  )
}

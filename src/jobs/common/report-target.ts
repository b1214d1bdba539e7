/** Where a report goes: a file of this machine, or an object of a bucket. Written whole or not at all. */

import { readdir, rm } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { ToolkitError, writeError } from '../../core/errors.ts'
import { folderOf, isBucket } from '../../core/lake-address.ts'
import { openStorage } from '../../storage/open-storage.ts'
import { replaceDurably } from '../../support/durable-files.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'

/** A place for one page. */
export interface ReportTarget {
  /** An absolute path, or `s3://bucket/prefix/report.html`. */
  readonly path: string
  /** @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`; an earlier page stays then */
  readonly write: (page: Uint8Array) => Promise<void>
}

/** Removes unfinished files that killed processes left beside the page; what cannot be removed stays. */
const removeLeftovers = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch(() => [])
  for (const name of names)
    if (temporaryLiveness(name) === 'gone')
      await rm(join(folder, name), { force: true }).catch(() => undefined)
}

/** No file of a lake, nor of its targets, is a page: a typing error replaces none of them. @throws {ToolkitError} `TARGET_REFUSED`, `USAGE` */
export const reportTarget = (to: string): ReportTarget => {
  if (!/\.html?$/i.test(to))
    throw new ToolkitError(
      'TARGET_REFUSED',
      `Cannot write the report "${to}": expected a file that ends in .html`,
    )
  if (isBucket(to)) {
    const [storage, name] = [openStorage(folderOf(to)), posix.basename(to)]
    return { path: `${storage.uri}/${name}`, write: (page) => storage.replace(name, page) }
  }
  const path = resolve(to)
  return {
    path,
    write: async (page) => {
      await removeLeftovers(dirname(path))
      await replaceDurably(path, page).catch((error: unknown) => {
        throw writeError(`Cannot write the report "${path}"`, error)
      })
    },
  }
}

/** The one place that knows which kinds of storage there are. */

import { folderStorage, refuseAddress } from './folder-storage.ts'
import { s3Storage } from './s3-storage.ts'
import type { Storage } from './storage.ts'

const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i

const open = (address: string): Storage => {
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase()
  if (scheme === undefined) return folderStorage(address)
  return scheme === 's3' ? s3Storage(address) : refuseAddress(address)
}

const opened = new Map<string, Storage>()

/**
 * The storage of an address, `./lake` or `s3://bucket/prefix`. One object for each address in a process: its
 * connections and what it knows of its copies are shared.
 *
 * @throws {ToolkitError} `USAGE` for an address of another kind
 */
export const storageOf = (address: string): Storage => {
  const known = opened.get(address)
  if (known) return known
  const storage = open(address)
  opened.set(address, storage)
  return storage
}

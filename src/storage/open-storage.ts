/** Opens storages and object stores by their addresses, and compares where lakes are. The one place that knows which kinds there are. */

import { realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { BUCKET_FORM, bucketScheme } from '../core/lake-address.ts'
import type { BucketScheme } from '../core/optional-parts.ts'
import { bucketStorage } from './bucket-storage.ts'
import { folderStorage } from './folder-storage.ts'
import type { ObjectStore, Patience } from './object-store.ts'
import { s3Store } from './s3/s3-store.ts'
import type { Storage } from './storage.ts'

/** Another kind of bucket is a line here, its `ObjectStore`, and its packages in `core/optional-parts.ts`. */
const OBJECT_STORES: Readonly<Record<BucketScheme, (address: string, patience?: Patience) => ObjectStore>> = {
  s3: s3Store,
}

/** The objects at an address of a bucket; `undefined` for that of a folder. @throws {ToolkitError} `USAGE` */
export const openStore = (address: string, patience?: Patience): ObjectStore | undefined => {
  const scheme = bucketScheme(address)
  return scheme && OBJECT_STORES[scheme](address, patience)
}

/** Opens a storage without what this process knows of it, as another process would. @throws {ToolkitError} `USAGE` */
export const openStorage = (address: string): Storage => {
  const store = openStore(address)
  if (store) return bucketStorage(address, store)
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) return folderStorage(address)
  throw new ToolkitError('USAGE', `Cannot use "${address}" as a lake: expected a folder or ${BUCKET_FORM}`)
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
  const storage = openStorage(address)
  opened.set(address, storage)
  return storage
}

/** An address in a bucket with one slash at its end; a name cannot step out of what it begins with. */
const prefixOf = (address: string): string | undefined => {
  const store = openStore(address)
  return store && `${store.address.uri}/`
}

const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../')
}

/**
 * Whether a lake is one of these places or below one, links followed.
 *
 * @param places folders, or `s3://bucket/prefix`, of which a prefix ends at a slash
 */
export const liesIn = async (lake: string, places: readonly string[]): Promise<boolean> => {
  const address = prefixOf(lake)
  for (const place of places) {
    const prefix = prefixOf(place)
    if (address !== undefined || prefix !== undefined) {
      if (address !== undefined && prefix !== undefined && address.startsWith(prefix)) return true
      continue
    }
    try {
      if (isBelow(await realpath(place), await realpath(lake))) return true
    } catch {
      // A folder that is not there holds no lake.
    }
  }
  return false
}

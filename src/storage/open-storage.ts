/** Opens storages and object stores by their addresses, and compares where lakes are. The one place that knows which kinds there are. */

import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { BUCKET_FORM, bucketScheme } from '../core/lake-address.ts'
import type { BucketScheme } from '../core/optional-parts.ts'
import { folderStorage } from './folder-storage.ts'
import type { ObjectStore, Patience } from './object-store.ts'
import { parseS3Address } from './s3/s3-address.ts'
import type { Storage } from './storage.ts'
import { workFolder } from './work-folder.ts'

/** Another kind of bucket is an entry here, its `ObjectStore`, and its packages in `core/optional-parts.ts`. */
const BUCKETS = {
  s3: { read: parseS3Address, open: async () => (await import('./s3/s3-store.ts')).s3Store },
} as const satisfies Readonly<Record<BucketScheme, object>>

/** The objects at an address of a bucket; `undefined` for that of a folder. @throws {ToolkitError} `USAGE` */
export const openStore = async (address: string, patience?: Patience): Promise<ObjectStore | undefined> => {
  const scheme = bucketScheme(address)
  return scheme && (await BUCKETS[scheme].open())(address, patience)
}

/** A bucket's storage. Its code is loaded at the first call: a command that works on folders needs none of it. */
const bucketOf = (address: string, { read, open }: (typeof BUCKETS)[BucketScheme]): Storage => {
  const place = read(address, process.env)
  const local = workFolder(place, process.env)
  const load = async () => {
    const { bucketStorage } = await import('./bucket-storage.ts')
    return bucketStorage(address, local, (await open())(address))
  }
  let loaded: ReturnType<typeof load> | undefined
  const bucket = (): ReturnType<typeof load> => {
    loaded ??= load()
    return loaded
  }
  return {
    ...{ address, local, isRemote: true, uri: place.uri },
    prepare: async (...given) => (await bucket()).prepare(...given),
    hasFolder: async (...given) => (await bucket()).hasFolder(...given),
    stat: async (...given) => (await bucket()).stat(...given),
    list: async (...given) => (await bucket()).list(...given),
    entries: async (...given) => (await bucket()).entries(...given),
    read: async (...given) => (await bucket()).read(...given),
    create: async (...given) => (await bucket()).create(...given),
    createFolder: async (...given) => (await bucket()).createFolder(...given),
    replace: async (...given) => (await bucket()).replace(...given),
    remove: async (...given) => (await bucket()).remove(...given),
    removeFolder: async (...given) => (await bucket()).removeFolder(...given),
    stage: async (...given) => (await bucket()).stage(...given),
    isStaged: async (...given) => (await bucket()).isStaged(...given),
    publish: async (...given) => (await bucket()).publish(...given),
    sync: async (...given) => (await bucket()).sync(...given),
    fetch: async (...given) => (await bucket()).fetch(...given),
    fetchTo: async (...given) => (await bucket()).fetchTo(...given),
    serveRanges: async () => (await bucket()).serveRanges(),
    readEnd: async (...given) => (await bucket()).readEnd(...given),
    examine: async (...given) => (await bucket()).examine(...given),
    readLines: async (...given) => (await bucket()).readLines(...given),
    openLines: async (...given) => (await bucket()).openLines(...given),
  }
}

/** Opens a storage without what this process knows of it, as another process would. @throws {ToolkitError} `USAGE` */
export const openStorage = (address: string): Storage => {
  const scheme = bucketScheme(address)
  if (scheme) return bucketOf(address, BUCKETS[scheme])
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

/**
 * Opens a lake that begins as another one, which stays as it is: what is written stands in a folder.
 *
 * @param address of the new one, in this process alone
 * @param over the other one: nothing of it is changed
 * @param folder absolute path of an empty folder
 * @returns to be called at the end; the folder is the caller's
 */
export const openOverlay = async (address: string, over: string, folder: string): Promise<() => void> => {
  const { bucketStorage } = await import('./bucket-storage.ts')
  const { folderObjects } = await import('./folder-objects.ts')
  const { overlayObjects } = await import('./overlay-objects.ts')
  const named = { uri: storageOf(over).uri, source: address }
  const below = (await openStore(over)) ?? folderObjects(storageOf(over).local, named)
  const above = folderObjects(join(folder, 'objects'), named)
  opened.set(address, bucketStorage(address, join(folder, 'local'), overlayObjects(above, below)))
  return () => void opened.delete(address)
}

/** An address in a bucket with one slash at its end; a name cannot step out of what it begins with. */
const prefixOf = (address: string): string | undefined => {
  const scheme = bucketScheme(address)
  return scheme && `${BUCKETS[scheme].read(address, process.env).uri}/`
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

/**
 * The object store that a lake needs, in eight calls: another object storage is one implementation of this. Paths are below
 * the lake's prefix, with `/`.
 */

import type { Readable } from 'node:stream'
import { ToolkitError } from '../core/errors.ts'
import type { FileFacts, StoredFile } from './storage.ts'

/** Address of the objects. */
export interface StoreAddress {
  /** For other tools and messages, without a slash at its end: `s3://bucket/prefix`. */
  readonly uri: string
  /** Distinguishes stores of one name: the endpoint, or the profile that names it. */
  readonly source: string
}

/** An object's bytes on their way. */
export interface ObjectBody {
  /** To be read to its end or destroyed; it fails where the connection breaks. */
  readonly stream: Readable
  /** Length of the whole object, whatever range was asked for. */
  readonly bytes: number
  /** Another one when the object was written again; absent where the store gives none. */
  readonly etag?: string | undefined
}

/** How long a store may take before it counts as not reached. */
export interface Patience {
  /** Requests sent for one call, the first included. */
  readonly attempts: number
  /** Longest silence on a connection, in milliseconds. */
  readonly silenceMs: number
}

export interface GetOptions {
  /** First byte, and the one behind the last. @default the whole object */
  readonly range?: { readonly from: number; readonly to: number }
  /** Only the object of this ETag: another one is `LAKE_DAMAGED`. */
  readonly etag?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions {
  /** Ends paths behind the first `/` after the prefix, each such folder once. @default false */
  readonly folders?: boolean
  /** The most objects that are asked for at once; a caller that needs one stops after it. */
  readonly pageSize?: number
}

/** An object in a listing, or a folder where `path` ends with a slash and folders were asked for. */
export type ListedObject = StoredFile

/**
 * Every call repeats a request that failed on its way as long as that can help, and then throws a `ToolkitError`:
 * `STORAGE_REFUSED` (credentials, rights, no such bucket) or `STORAGE_FAILED` (not reached, or failing all the same),
 * and `LAKE_DAMAGED` for a path that leaves the lake.
 */
export interface ObjectStore {
  readonly address: StoreAddress
  /** Length and time of an object; `null` where there is none. */
  readonly head: (path: string) => Promise<StoredFile | null>
  /** Opens an object; `null` where there is none. */
  readonly get: (path: string, options?: GetOptions) => Promise<ObjectBody | null>
  /** Writes an object whole, over an older one. */
  readonly put: (path: string, data: Uint8Array) => Promise<void>
  /**
   * Creates an object if there is none. Of several at once exactly one wins, and it learns so although the answer to
   * an earlier one of its requests was lost.
   *
   * @returns whether it was created by this call; `true` twice shows an endpoint that ignores the condition
   */
  readonly putIfAbsent: (path: string, data: Uint8Array) => Promise<boolean>
  /**
   * Sends a local file and sees that it arrived whole; until then nothing appears under its path.
   *
   * @throws {ToolkitError} `WRITE_FAILED` where the local file is not what `facts` say
   */
  readonly putFile: (from: string, facts: FileFacts) => Promise<void>
  /** Objects whose paths begin with a text, in any order; `''` is all of them. Also sees that the bucket is there. */
  readonly list: (prefix: string, options?: ListOptions) => AsyncIterable<ListedObject>
  /** Removes objects, in any order; such as are gone already are fine. */
  readonly delete: (paths: readonly string[]) => Promise<void>
}

export const hasBadSegment = (path: string): boolean =>
  path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')

export const notOfLake = ({ uri }: StoreAddress, path: string): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot use path "${path}" of "${uri}": it is not one of a lake`, { path })

/** @throws {ToolkitError} `LAKE_DAMAGED` for a path that leaves the lake: such as this come from a forged snapshot */
export const checkPath = (address: StoreAddress, path: string): void => {
  // A slash at the end is that of a folder's marker.
  if (hasBadSegment(path.replace(/\/$/, '')) || /[\0\\]/.test(path)) throw notOfLake(address, path)
}

/** `s3://bucket/prefix/path`, as messages name an object. */
export const nameOf = ({ address }: { readonly address: StoreAddress }, path: string): string =>
  `${address.uri}/${path}`

/** The error for an object that is read in several requests. @param name as `nameOf` gives it */
export const replacedObject = (name: string, path: string): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot read "${name}": it was replaced while it was read`, { path })

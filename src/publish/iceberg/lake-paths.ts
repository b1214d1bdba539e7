/** Paths of a lake as Iceberg's readers get them: absolute, below the address of the storage. */

import type { Storage } from '../../storage/storage.ts'

/** Folder of a table's metadata in the lake. @param root the table's own folder */
export const metadataFolder = (root: string): string => `${root}/metadata`

export const absolutePath = (storage: Storage, path: string): string => `${storage.uri}/${path}`

/** Path in the lake of an absolute one; `undefined` for a path outside. */
export const pathInLake = (storage: Storage, absolute: string): string | undefined =>
  absolute.startsWith(`${storage.uri}/`) ? absolute.slice(storage.uri.length + 1) : undefined

/**
 * Files of a lake that are read once, some at a time: of a lake in a bucket no more of them lies on this machine than
 * the caller allows, however large the lake is.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storageOf } from '../../storage/open-storage.ts'
import type { FetchOptions, FileFacts } from '../../storage/storage.ts'
import { cacheBytes } from '../../storage/work-folder.ts'

/** The most that files of a lake take on this machine, beside a lake that is a folder of it, unless told otherwise; in bytes. */
export const defaultLocalBytes = (lake: string): number =>
  storageOf(lake).isRemote ? cacheBytes(process.env) : Number.POSITIVE_INFINITY

/** Consecutive files of at most `mostBytes`, and at most `mostFiles` of them; a larger file by itself. */
export const cutByBytes = <File extends { readonly bytes: number }>(
  files: readonly File[],
  mostBytes: number,
  mostFiles = Number.POSITIVE_INFINITY,
): readonly (readonly File[])[] => {
  const groups: File[][] = []
  let room = 0
  for (const file of files) {
    const group = groups.at(-1)
    if (group === undefined || file.bytes > room || group.length >= mostFiles) {
      groups.push([file])
      room = mostBytes - file.bytes
    } else {
      group.push(file)
      room -= file.bytes
    }
  }
  return groups
}

/** Where a file of the lake can be read, by its path below the lake. */
export type PlaceOf = (path: string) => string

/**
 * Brings files to where DuckDB can read them for as long as `use` runs; each is hashed.
 *
 * @param folder absolute, below the lake's place on this machine; copies stand in it, and it is removed at the end
 * @throws {ToolkitError} `LAKE_DAMAGED`, naming the file, when one is missing or not what it should be
 */
export const withFiles = async <T>(
  lake: string,
  files: readonly FileFacts[],
  folder: string,
  options: FetchOptions,
  use: (placeOf: PlaceOf) => Promise<T>,
): Promise<T> => {
  try {
    const above = await storageOf(lake).fetchTo(folder, files, options)
    return await use((path) => join(above, ...path.split('/')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

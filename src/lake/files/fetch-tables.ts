/**
 * The one place through which files of a lake reach DuckDB or any other reader: brought to this machine, and compared with the
 * manifest, since DuckDB reads damaged Parquet without a word. Files that are read once are brought some at a time, so that a
 * lake in a bucket takes no more of this machine than the caller allows.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry, Snapshot } from '../../core/partition.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FetchOptions, FileFacts, KnownFiles } from '../../storage/storage.ts'
import { cacheBytes } from '../../storage/work-folder.ts'

/**
 * When a file is read for its hash: before `every-read`, as for all that gives data away or rewrites it; before the
 * `first-read` on this machine, which is remembered; or `never`, when only its length is compared.
 */
export type FileCheck = 'every-read' | 'first-read' | 'never'

export interface FetchTablesOptions extends Omit<FetchOptions, 'known'> {
  /** @default 'every-read' */
  readonly check?: FileCheck | undefined
  /** Files that this very work has hashed already. @default none */
  readonly known?: KnownFiles | undefined
}

/**
 * Brings files to where they can be read, and checks them.
 *
 * @throws {ToolkitError} LAKE_DAMAGED, naming the file, when one is missing or not what it should be;
 *   STORAGE_REFUSED, STORAGE_FAILED
 */
export const fetchFiles = async (
  lake: string,
  files: readonly FileFacts[],
  { check = 'every-read', known, ...options }: FetchTablesOptions = {},
): Promise<void> => {
  const storage = storageOf(lake)
  if (check === 'every-read') return storage.fetch(files, { ...options, known })
  if (check === 'never') return storage.fetch(files, { ...options, known: 'all' })
  const { openHashMemory } = await import('../../storage/hash-memory.ts')
  const memory = await openHashMemory(storage.local)
  try {
    await storage.fetch(files, { ...options, known: memory })
  } finally {
    await memory.save()
  }
}

/** The files of some tables of a snapshot, or of some of its partitions. */
export const filesOfTables = (
  { partitions, files }: Pick<Snapshot, 'partitions' | 'files'>,
  tables: readonly string[],
): readonly FileEntry[] =>
  [...partitions.flatMap((partition) => partition.files), ...files].filter(({ table }) =>
    tables.includes(table),
  )

/** Fetches the files of some tables of a snapshot, or of some of its partitions. @throws as `fetchFiles` */
export const fetchTables = (
  lake: string,
  listed: Pick<Snapshot, 'partitions' | 'files'>,
  tables: readonly string[],
  options: FetchTablesOptions = {},
): Promise<void> => fetchFiles(lake, filesOfTables(listed, tables), options)

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

/** The place where a file of the lake can be read, by its path below the lake. */
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

/**
 * The one place through which files of a lake reach DuckDB or any other reader: brought to this machine, and compared
 * with what the manifest says of them. DuckDB reads damaged Parquet without a word.
 */

import type { FileEntry, Snapshot } from '../../core/partition.ts'
import { openHashMemory } from '../../storage/hash-memory.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FetchOptions, FileFacts, KnownFiles } from '../../storage/storage.ts'

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

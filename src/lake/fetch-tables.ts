/** Brings the files of tables to where DuckDB reads them. */

import type { FileEntry, Snapshot } from '../core/partition.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { FetchOptions } from '../storage/storage.ts'

/**
 * Fetches the files of some tables of a snapshot, or of some of its partitions; of a lake in a folder they are there.
 *
 * @throws {ToolkitError} LAKE_DAMAGED when one is missing or not what it should be; STORAGE_REFUSED, STORAGE_FAILED
 */
export const fetchTables = async (
  lake: string,
  { partitions, files }: Pick<Snapshot, 'partitions' | 'files'>,
  tables: readonly string[],
  options: FetchOptions = {},
): Promise<void> => {
  const all: readonly FileEntry[] = [...partitions.flatMap((partition) => partition.files), ...files]
  await storageOf(lake).fetch(
    all.filter(({ table }) => tables.includes(table)),
    options,
  )
}

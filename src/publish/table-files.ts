/** The files that a snapshot's published tables consist of, each with the partition values its rows get. */

import type { FileEntry, Snapshot } from '../core/partition.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'

/** A Parquet file of a table as others see it: `load` is the run, `version` shows which rows are current. */
export interface TableFile extends FileEntry {
  /** Path below the table's folder, with `/`: `load=<run>/<partition>.parquet`. */
  readonly name: string
  readonly run: string
  /** As in `lake/current-versions.ts`: the place of the file's partition in the snapshot. */
  readonly version: number
}

const tableFile = (file: FileEntry, run: string, version: number): TableFile => ({
  ...file,
  name: file.path.slice(file.table.length + 1),
  run,
  version,
})

/** The files of a table in the order of their versions. */
export const filesOfTable = (snapshot: Snapshot, table: Table): readonly TableFile[] => [
  ...snapshot.partitions.flatMap((partition, version) =>
    partition.files
      .filter((file) => file.table === table.name)
      .map((file) => tableFile(file, partition.run, version)),
  ),
  ...snapshot.files
    .filter((file) => file.table === table.name)
    .map((file, version) => tableFile(file, file.run, version)),
]

/**
 * The tables that are published, in the order in which they are brought in step. Those that say which version of a
 * record is current come last: whoever reads meanwhile finds rows for every version that they name.
 */
export const publishedTables = (): readonly Table[] => [
  ...TABLES.filter((table) => table.name !== table.content),
  ...TABLES.filter((table) => table.name === table.content),
]

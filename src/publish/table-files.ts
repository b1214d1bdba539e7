/** The files that a snapshot's published tables consist of, each with the partition values its rows get. */

import type { FileEntry, FileOfRun, PartitionEntry } from '../core/partition.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'

/** A Parquet file of a table as others see it: `load` is the run, `version` shows which rows are current. */
export interface TableFile extends FileEntry {
  /** Path below the table's folder, with `/`: `load=<run>/<partition>.parquet`. */
  readonly name: string
  readonly run: string
  /** As in `lake/current-versions.ts`: the place of the file's partition in the snapshot. */
  readonly version: number
}

/** What differs between two sets of files of a table. */
export interface FileChanges {
  /** In their order, those among them that both have, of another version in the later one. */
  readonly added: readonly TableFile[]
  /** These alone. */
  readonly moved: readonly TableFile[]
  /** As they were. */
  readonly removed: readonly TableFile[]
}

const tableFile = (file: FileEntry, run: string, version: number): TableFile => ({
  ...file,
  name: file.path.slice(file.table.length + 1),
  run,
  version,
})

/** The files of a table that some partitions have, in the order of their versions. @param place of the first one */
export const filesOfPartitions = (
  partitions: readonly PartitionEntry[],
  place: number,
  { name }: Pick<Table, 'name'>,
): readonly TableFile[] =>
  partitions.flatMap(({ run, files }, at) =>
    files.filter(({ table }) => table === name).map((file) => tableFile(file, run, place + at)),
  )

/** The files of a table that runs have, not partitions. */
export const filesOfRuns = (
  files: readonly FileOfRun[],
  { name }: Pick<Table, 'name'>,
): readonly TableFile[] =>
  files.filter(({ table }) => table === name).map((file, version) => tableFile(file, file.run, version))

/**
 * The tables that are published, in the order in which they are brought in step. Those that say which version of a
 * record is current come last: whoever reads meanwhile finds rows for every version that they name.
 */
export const publishedTables = (): readonly Table[] => [
  ...TABLES.filter((table) => table.name !== table.content),
  ...TABLES.filter((table) => table.name === table.content),
]

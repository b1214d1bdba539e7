/** The files that a snapshot's published tables consist of, each with the partition values its rows get. */

import type { Commit, CommitFacts, CommittedPartition, FileEntry, FileOfRun } from '../core/partition.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'
import type { FilePlace } from './partition-columns.ts'

/** A Parquet file of a table as others see it. */
export interface TableFile extends FileEntry, FilePlace {
  /** Path below the table's folder, with `/`: `load=<run>/<partition>.parquet`. */
  readonly name: string
  readonly committed: Commit
}

/** What differs between two sets of files of a table. */
export interface FileChanges {
  /** In their order. */
  readonly added: readonly TableFile[]
  readonly removed: readonly TableFile[]
}

const tableFile = (
  { table, path, rows, bytes, sha256 }: FileEntry,
  { run, version, committed }: CommitFacts & { readonly run: string },
): TableFile => ({
  ...{ table, path, rows, bytes, sha256, run, version, committed },
  name: path.slice(table.length + 1),
})

/** The files of a table that some partitions have, in the order of their versions. */
export const filesOfPartitions = (
  partitions: readonly CommittedPartition[],
  { name }: Pick<Table, 'name'>,
): readonly TableFile[] =>
  partitions.flatMap((partition) =>
    partition.files.filter(({ table }) => table === name).map((file) => tableFile(file, partition)),
  )

/** The files of a table that runs have, not partitions. */
export const filesOfRuns = (
  files: readonly FileOfRun[],
  { name }: Pick<Table, 'name'>,
): readonly TableFile[] => files.filter(({ table }) => table === name).map((file) => tableFile(file, file))

/**
 * The tables that are published, in the order in which they are brought in step. Those that say which version of a
 * record is current come last: whoever reads meanwhile finds rows for every version that they name.
 */
export const publishedTables = (): readonly Table[] => [
  ...TABLES.filter((table) => table.name !== table.content),
  ...TABLES.filter((table) => table.name === table.content),
]

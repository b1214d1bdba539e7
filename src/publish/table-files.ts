/**
 * The files that a snapshot's published tables consist of, each with the partition values its rows get, and how they
 * differ from what is published.
 */

import type {
  Commit,
  CommitFacts,
  CommittedPartition,
  FileEntry,
  FileOfRun,
  VersionFile,
} from '../core/partition.ts'
import type { Column } from '../lake/tables/columns.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'
import { HISTORY_COLUMNS } from '../lake/views/base-views.ts'

const historyColumn = (name: string): Column => {
  const column = HISTORY_COLUMNS.find((one) => one.name === name)
  if (column === undefined) throw new TypeError(`No column "${name}" of history`)
  return column
}

/** Behind a table's own columns. */
export const PARTITION_COLUMNS: readonly Column[] = [
  { name: 'load', type: 'VARCHAR', about: "The same as `run`: it names the folder of the row's file." },
  ...['version', 'snapshot', 'run', 'loaded_at', 'as_of'].map(historyColumn),
]

/** A file by its partition columns. */
export interface FilePlace {
  readonly run: string
  /** Version of the file's partition, as in the manifest. */
  readonly version: number
  /** Absent of a file of current rows. */
  readonly committed?: Commit | undefined
  /** As of which its partition is; absent of a dictionary and of a file of current rows. */
  readonly asOf?: string | undefined
}

/** A Parquet file of a table as others see it. */
export interface TableFile extends FileEntry, FilePlace {
  /** Path below the table's folder, with `/`: `load=<run>/<partition>.parquet`. */
  readonly name: string
  readonly committed: Commit
}

/** Difference between two sets of files of a table. */
export interface FileChanges {
  /** In their order. */
  readonly added: readonly TableFile[]
  readonly removed: readonly TableFile[]
}

const tableFile = (
  { table, path, rows, bytes, sha256 }: FileEntry,
  { run, version, committed, asOf }: CommitFacts & { readonly run: string; readonly asOf?: string },
): TableFile => ({
  ...{ table, path, rows, bytes, sha256, run, version, committed, asOf },
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

/** The newest snapshot of the lake that a published table shows. */
export interface ShownSnapshot {
  readonly snapshot: number
  readonly run: string
}

export interface FilesOfTable {
  /** The table's files. */
  readonly files: () => Promise<readonly TableFile[]>
  /**
   * File changes since the published snapshot, or a later one with the same files; `null` where gc has removed these
   * snapshots.
   */
  readonly changesSince: (shown: ShownSnapshot) => Promise<FileChanges | null>
}

/** A table in a snapshot. */
export interface TableInSnapshot extends FilesOfTable {
  /** Number of the snapshot. */
  readonly snapshot: number
  /** The table whose rows say which of this one are current; itself where it says so of its own. */
  readonly main: FilesOfTable
  /** The files that list which versions of its records are superseded. */
  readonly superseded: readonly VersionFile[]
  /** Files that say which companies are not listed any more; no files where the table is none of theirs. */
  readonly listings: FilesOfTable
}

/** What a snapshot of the lake lists of a table, and how that differs from what is published. */

import type { FileChanges, TableFile } from './table-files.ts'

/** The newest snapshot of the lake that a published table shows. */
export interface ShownSnapshot {
  readonly snapshot: number
  readonly run: string
}

export interface FilesOfTable {
  /** All files of the table. */
  readonly files: () => Promise<readonly TableFile[]>
  /**
   * How they differ from those of the snapshot that the published table shows, or of a later one of which it is known that
   * the table has not changed until then; `null` where none of them is kept.
   */
  readonly changesSince: (shown: ShownSnapshot) => Promise<FileChanges | null>
}

/** A table in a snapshot. */
export interface TableInSnapshot extends FilesOfTable {
  /** Number of the snapshot. */
  readonly snapshot: number
  /** The table whose rows say which of this one are current; itself where it says so of its own. */
  readonly main: FilesOfTable
  /** Which companies are not listed any more; no files where the table is none of theirs. */
  readonly listings: FilesOfTable
}

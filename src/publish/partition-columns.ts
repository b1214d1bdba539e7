/**
 * The columns of tables of all versions that stand in none of their files: each file has one value of them, which the
 * published table keeps. Values and meanings are those of the `…_history` views.
 */

import type { Commit } from '../core/partition.ts'
import type { Column } from '../lake/tables/columns.ts'
import { HISTORY_COLUMNS } from '../lake/views/base-views.ts'

const historyColumn = (name: string): Column => {
  const column = HISTORY_COLUMNS.find((one) => one.name === name)
  if (column === undefined) throw new TypeError(`No column "${name}" of history`)
  return column
}

/** Behind a table's own columns. */
export const PARTITION_COLUMNS: readonly Column[] = [
  { name: 'load', type: 'VARCHAR', about: "The same as `run`: it names the folder of the row's file." },
  ...['version', 'snapshot', 'run', 'loaded_at'].map(historyColumn),
]

/** What the partition columns say of a file. */
export interface FilePlace {
  readonly run: string
  /** Of the file's partition, as in the manifest. */
  readonly version: number
  /** Absent of a file of current rows. */
  readonly committed?: Commit | undefined
}

/**
 * Where rows go. A sink opens runs; of each: `write` once for each table of each partition, several partitions side by
 * side; then `commit` with the files of all finished partitions, or `abort`. A sink holds no run itself: several may be
 * open at once.
 *
 * - Nothing that `write` does may be visible to readers before `commit`.
 * - When `write` resolves, its rows are on disk (synced): a run that is killed afterwards may resume with
 *   the receipts alone, in another process, on the same run opened again.
 * - Writing a partition's table again replaces what was written before: a resumed run repeats what was interrupted.
 * - `commit` may be called again after a crash halfway through and then completes what is missing.
 * - `abort` removes what this run wrote and is safe at any time before `commit`.
 */

import type { FileEntry } from './partition.ts'
import type { CopyReceipt, TableRows } from './table-rows.ts'

/** What a sink says of a table's part of one partition. `files` is empty where it keeps no files. */
export interface Receipt {
  readonly table: string
  readonly rows: number
  readonly files: readonly FileEntry[]
  readonly statistics: CopyReceipt['statistics']
}

/** A run on its way into a target. */
export interface SinkRun {
  /** Writes all rows of `table` that belong to `partition`. @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
  write(partition: string, table: string, rows: TableRows): Promise<Receipt>
  /** Shows what the given files (of earlier receipts) hold; all or nothing as far as the target allows it. */
  commit(files: readonly FileEntry[]): Promise<void>
  abort(): Promise<void>
  /**
   * What stands behind FROM to read rows that `write` has written to files of one table, committed or not. A sink
   * without it makes the run keep in memory and in its journal every line item that the contract does not know.
   */
  stagedRows?(files: readonly FileEntry[]): Promise<string>
  /** What a person should know of the commit, such as characters that the target cannot hold. */
  readonly warnings?: readonly string[]
}

/** What stands in a target. */
export interface TargetNames {
  readonly tables: ReadonlySet<string>
  /** Names of tables and views, which nothing else may take. */
  readonly taken: ReadonlySet<string>
  /** What the comment of every view is to end with, by which the target knows it again. */
  readonly mark: string
}

/** The lake that a target is to hold the rows of. */
export interface LakeClaim {
  /** Its id; `null` where rows come that are no lake's. */
  readonly lake: string | null
  /** Whether a target of another lake is handed over to this one. */
  readonly adopt: boolean
  /** Whether the target is to keep the id from now on: all runs of the lake come. */
  readonly marks: boolean
  /** Called where the target got the id of the lake though it shows runs already. */
  readonly onAdopted?: (() => void) | undefined
}

/** What the caller provides a sink with, for one run. */
export interface SinkContext {
  /** Folder of this machine for rows that wait to be loaded; the caller removes it. @default one of the sink's own */
  readonly staging?: string | undefined
  /** Memory for loading, in bytes. @default the sink's own choice */
  readonly memoryBytes?: number | undefined
  /** Stops a commit: nothing of its run is shown then. */
  readonly signal?: AbortSignal | undefined
  /** What is loaded, for messages. @default the run, by its id */
  readonly what?: string | undefined
  /** What the rows lack of what came, and what was computed for them, in words: noted with the run. @default nothing */
  readonly taken?: string | undefined
  /** Whose rows come: `loaded` refuses a target of another lake, and marks one that has no mark. @default nobody asks */
  readonly claim?: LakeClaim | undefined
  /** Statements that make views and macros over the tables of a DuckDB file. @default none */
  readonly layer?: ((names: TargetNames) => Promise<readonly string[]>) | undefined
}

/** Where rows go: a folder, a database, or anything else that can show all of a run at once. */
export interface Sink {
  readonly name: string
  /** Prepares for a run; a run id seen before is a resumed run. */
  open(run: string, context?: SinkContext): Promise<SinkRun>
  /** The runs that the target shows already; a sink without it takes no deliveries. */
  loaded?(context?: SinkContext): Promise<ReadonlySet<string>>
}

/** A sink that runs can be delivered to: it knows which of them its target shows. */
export interface DeliverySink extends Sink {
  loaded(context?: SinkContext): Promise<ReadonlySet<string>>
}

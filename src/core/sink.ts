/**
 * Targets of rows. A sink opens runs; of each: `write` once for each table of each partition, several partitions side by
 * side; then `commit` with the files of all finished partitions, or `abort`. A sink holds no run itself: several may be
 * open at once.
 *
 * - Nothing that `write` does may be visible to readers before `commit`.
 * - When `write` resolves, its rows are on disk (synced): a run that is killed afterwards may resume with
 *   the receipts alone, in another process, on the same run opened again.
 * - Writing a partition's table again replaces what was written before: a resumed run repeats what was interrupted.
 * - `commit` may be called again after a crash halfway through and then completes what is missing.
 * - `abort` removes what this run wrote and is safe at any time before `commit`; of a sink of files also after it, where the
 *   lake has lost the run.
 */

import type { FileEntry } from './partition.ts'

/** A sink's result for one table of one partition. `files` is empty where it keeps no files. */
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
   * SQL for a FROM clause that reads rows that `write` has written to files of one table, committed or not. A sink
   * without it makes the run keep in memory and in its journal every line item that the contract does not know.
   */
  stagedRows?(files: readonly FileEntry[]): Promise<string>
  /** Warnings of the commit, such as characters that the target cannot hold. */
  readonly warnings?: readonly string[]
}

/** Names in use in a target. */
export interface TargetNames {
  readonly tables: ReadonlySet<string>
  /** Names of tables and views, which nothing else may take. */
  readonly taken: ReadonlySet<string>
  /** The end of the comment of every view, by which the target recognises its views. */
  readonly mark: string
}

/** The lake that a target is to hold the rows of. */
export interface LakeClaim {
  /** Id of the lake; `null` where rows come that are no lake's. */
  readonly lake: string | null
  /** Whether a target of another lake is handed over to this one. */
  readonly adopt: boolean
  /** Whether the target is to keep the id from now on: all runs of the lake come. */
  readonly marks: boolean
  /** Called where the target got the id of the lake though it shows runs already. */
  readonly onAdopted?: (() => void) | undefined
  /** Runs that a target shows and the lake does not have. @default nobody asks */
  readonly lost?: ((shown: ReadonlySet<string>) => Promise<readonly string[]>) | undefined
  /** Whether a target that shows such runs loses their rows: it is refused otherwise. @default false */
  readonly overwrite?: boolean | undefined
  /**
   * Called where it does, with one of them. A database then answers that it shows no run, keeps its rows, and is to be given
   * `anew` with the next run.
   */
  readonly onAnew?: ((lost: string) => void) | undefined
}

/** Context of a sink for one run. */
export interface SinkContext {
  /** Folder of this machine for rows that wait to be loaded; the caller removes it. @default one of the sink's own */
  readonly staging?: string | undefined
  /** Memory for loading, in bytes. @default the sink's own choice */
  readonly memoryBytes?: number | undefined
  /** Stops a commit: nothing of its run is shown then. */
  readonly signal?: AbortSignal | undefined
  /** Name of the load, for messages. @default the run, by its id */
  readonly what?: string | undefined
  /** The projection of the rows in words, noted with the run. @default none */
  readonly taken?: string | undefined
  /** The lake of the rows: `deliveredRuns` refuses a target of another lake, and one that shows what the lake has lost, and marks one that has no mark. @default nobody asks */
  readonly claim?: LakeClaim | undefined
  /** Whether the commit replaces all that a database shows. @default false */
  readonly anew?: boolean | undefined
  /** Statements that make views and macros over the tables of a DuckDB file. @default none */
  readonly layer?: ((names: TargetNames) => Promise<readonly string[]>) | undefined
}

/** A target of rows: a folder, a database, or anything else that can show all of a run at once. */
export interface Sink {
  readonly name: string
  /** Prepares for a run; a run id seen before is a resumed run. */
  open(run: string, context?: SinkContext): Promise<SinkRun>
  /** The runs that the target shows already; a sink without it takes no deliveries. */
  deliveredRuns?(context?: SinkContext): Promise<ReadonlySet<string>>
}

/** A sink that runs can be delivered to: it knows which of them its target shows. */
export interface DeliverySink extends Sink {
  deliveredRuns(context?: SinkContext): Promise<ReadonlySet<string>>
}

/** A file that the engine writes by itself. */
export type CopyFormat =
  | {
      readonly kind: 'parquet'
      /** Distinct values up to which a column is written as a dictionary. @default a fifth of a row group */
      readonly dictionaryLimit?: number
      /** Level of Zstandard. @default 3 */
      readonly compressionLevel?: number
      /** Field ids of the columns, as DuckDB's option takes them: `{"internal_id": 1, …}`. */
      readonly fieldIds?: string
      /** Rows of a row group. @default 122_880 */
      readonly rowGroupRows?: number
    }
  | { readonly kind: 'json-lines' }
  /** With a header; a line ends with `\n`; NULL as `nullText`, without quotes. */
  | {
      readonly kind: 'csv'
      readonly nullText: string
      readonly header: boolean
      /** There is one column, and its texts (its name in the header too) are records already: written as they are. */
      readonly wholeRecords?: true
      /** Compressed. @default false */
      readonly gzip?: boolean
    }

/** Facts of a file that was written. */
export interface CopyReceipt {
  readonly rows: number
  /** Least and greatest value by column, as text; only for Parquet that the engine wrote, and not for ENUM columns. */
  readonly statistics: ReadonlyMap<string, { readonly min?: string; readonly max?: string }>
}

/** A column of a relation: its name and DuckDB's name of its type. */
export interface RowColumn {
  readonly name: string
  readonly type: string
}

/** Type of a column of raw chunks. */
export type ColumnType =
  /** `id` is DuckDB's own (`BIGINT`, `TIMESTAMP_TZ`), `name` its name in SQL. */
  | { readonly kind: 'plain'; readonly id: string; readonly name: string }
  /** Rows hold places in `values`, of `width` bytes. */
  | { readonly kind: 'enum'; readonly values: readonly string[]; readonly width: 1 | 2 | 4 }
  | { readonly kind: 'list'; readonly of: ColumnType }
  | { readonly kind: 'struct'; readonly fields: readonly NamedColumnType[] }

/** A column of a chunk as it stands in the engine's memory. To be copied before the next chunk is asked for. */
export interface RawColumn {
  /** A bit a row, the least significant first, set where there is a value; absent where no row is NULL. */
  readonly validity: Uint8Array | undefined
  /**
   * Values of fixed width, little endian; a byte a BOOLEAN; of a list the number of its first child and how many they
   * are, 64 bits each. Where a row is NULL it holds anything.
   */
  readonly data: Uint8Array
  /** The one column of children of a list, or the fields of a struct. */
  readonly children: readonly RawColumn[]
  /** Gives the texts of some rows one by one as a piece of UTF-8; an empty piece for NULL. */
  strings(from: number, count: number, put: (bytes: Uint8Array, start: number, end: number) => void): void
}

export interface RawChunk {
  readonly rows: number
  readonly columns: readonly RawColumn[]
}

export interface NamedColumnType {
  readonly name: string
  readonly type: ColumnType
}

export interface RawChunks {
  readonly columns: readonly NamedColumnType[]
  readonly chunks: AsyncIterable<RawChunk>
}

/** Rows of one table, to be written to a file by the engine or read chunk by chunk. */
export interface TableRows {
  /** The columns, without reading a row. */
  columns(): Promise<readonly RowColumn[]>
  /** The statement itself: what a sink puts around it (casts, order) is again a relation of the same session. */
  select(wrap: (from: string) => string): TableRows
  /** Writes all rows to a new file. */
  copyTo(path: string, format: CopyFormat): Promise<CopyReceipt>
  /** The rows as objects, chunk by chunk; for sinks that are not files of the engine. */
  rows(): AsyncIterable<readonly Readonly<Record<string, unknown>>[]>
  /** The rows as columns of raw memory, chunk by chunk: for much data, where no value should become an object. */
  chunks(): Promise<RawChunks>
}

/** Rows of one table on their way to a sink: to be written to a file by the engine, or read chunk by chunk. */

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

/** What is known of a file that was written. */
export interface CopyReceipt {
  readonly rows: number
  /** Least and greatest value by column, as text; only for Parquet that the engine wrote, and not for ENUM columns. */
  readonly statistics: ReadonlyMap<string, { readonly least?: string; readonly greatest?: string }>
}

/** A column of a relation: its name and DuckDB's name of its type. */
export interface RowColumn {
  readonly name: string
  readonly type: string
}

/** What a column of raw chunks is. */
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
  /** Of a list its one column of children, of a struct its fields. */
  readonly children: readonly RawColumn[]
  /** Gives the texts of some rows one by one as a piece of UTF-8; an empty piece for NULL. */
  texts(from: number, count: number, put: (bytes: Uint8Array, start: number, end: number) => void): void
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
  /** All rows as objects, chunk by chunk; for sinks that are not files of the engine. */
  rows(): AsyncIterable<readonly Readonly<Record<string, unknown>>[]>
  /** All rows as columns of raw memory, chunk by chunk: for much data, where no value should become an object. */
  chunks(): Promise<RawChunks>
}

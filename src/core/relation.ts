/** Rows of one table on their way to a sink: to be written to a file by the engine, or read chunk by chunk. */

export type CopyFormat =
  | {
      readonly kind: 'parquet'
      readonly dictionaryLimit?: number
      /** Field ids of the columns, as DuckDB's option takes them: `{"internal_id": 1, …}`. */
      readonly fieldIds?: string
    }
  | { readonly kind: 'json-lines' }
  /** With a header; a line ends with `\n`; NULL as `nullText`, without quotes. */
  | { readonly kind: 'csv'; readonly nullText: string; readonly header: boolean }

export interface CopyReceipt {
  readonly rows: number
  /** Least and greatest value by column, as text; only for Parquet, and not for ENUM columns. */
  readonly statistics: ReadonlyMap<string, { readonly least?: string; readonly greatest?: string }>
}

/** A column of a relation: its name and DuckDB's name of its type. */
export interface RelationColumn {
  readonly name: string
  readonly type: string
}

export interface Relation {
  /** The columns, without reading a row. */
  columns(): Promise<readonly RelationColumn[]>
  /** The statement itself: what a sink puts around it (casts, order) is again a relation of the same session. */
  select(wrap: (from: string) => string): Relation
  /** Writes all rows to a new file, by the engine's own writer. */
  copyTo(path: string, format: CopyFormat): Promise<CopyReceipt>
  /** All rows as objects, chunk by chunk; for sinks that are not files of the engine. */
  rows(): AsyncIterable<readonly Readonly<Record<string, unknown>>[]>
}

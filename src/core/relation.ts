/** Rows of one table on their way to a sink: to be written to a file by the engine, or read chunk by chunk. */

export type CopyFormat =
  | { readonly kind: 'parquet'; readonly dictionaryLimit?: number }
  | { readonly kind: 'json-lines' }

export interface CopyReceipt {
  readonly rows: number
  /** Least and greatest value by column, as text; only for Parquet, and not for ENUM columns. */
  readonly statistics: ReadonlyMap<string, { readonly least?: string; readonly greatest?: string }>
}

export interface Relation {
  /** Writes all rows to a new file, by the engine's own writer. */
  copyTo(path: string, format: CopyFormat): Promise<CopyReceipt>
  /** All rows as objects, chunk by chunk; for sinks that are not files of the engine. */
  rows(): AsyncIterable<readonly Readonly<Record<string, unknown>>[]>
}

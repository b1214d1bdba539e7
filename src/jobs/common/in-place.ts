/** How jobs that need parts of a lake in a bucket read it. */

/**
 * Options of jobs that need parts of a lake in a bucket: where DuckDB's httpfs can be loaded they read those parts where
 * they stand, with lengths and ETags compared and no hashes; else copies of whole files.
 */
export interface InPlaceOptions {
  /** Reads copies that are compared with their hashes in any case. @default false */
  readonly checked?: boolean | undefined
}

/** How jobs that need parts of a lake in a bucket read it. */

import type { HttpfsSource } from '../lake/duckdb/httpfs.ts'

/**
 * Options of jobs that need parts of a lake in a bucket: where DuckDB's httpfs can be loaded they read those parts where
 * they stand, with lengths and ETags compared and no hashes; else copies of whole files.
 */
export interface InPlaceOptions extends HttpfsSource {
  /** Reads copies that are compared with their hashes in any case. @default false */
  readonly checked?: boolean | undefined
}

/** Where httpfs comes from; `undefined`: only copies will do. */
export const inPlaceSource = ({
  checked = false,
  httpfs,
  installExtensions,
}: InPlaceOptions): HttpfsSource | undefined => (checked ? undefined : { httpfs, installExtensions })

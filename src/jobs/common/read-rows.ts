/** Shared by the jobs that read a lake. */

import type { QueryResult } from '../../lake/query/lake-query.ts'

/** A row by the names of its columns; of two columns of one name the last counts. */
export type QueryRow = Readonly<Record<string, unknown>>

/** All rows of an answer, in memory. */
export const readRows = async ({ columns, rows }: QueryResult): Promise<readonly QueryRow[]> => {
  const all: QueryRow[] = []
  for await (const chunk of rows)
    for (const row of chunk) all.push(Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])))
  return all
}

/**
 * Options of jobs that need parts of a lake in a bucket: where DuckDB's httpfs can be loaded they read those parts where
 * they stand, with lengths and ETags compared and no hashes; else copies of whole files.
 */
export interface InPlaceOptions {
  /** Reads copies that are compared with their hashes in any case. @default false */
  readonly checked?: boolean | undefined
}

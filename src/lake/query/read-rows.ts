/** Shared by the jobs that read a lake. */

import type { QueryResult } from './lake-query.ts'

/** A row by the names of its columns; of two columns of one name the last counts. */
export type QueryRow = Readonly<Record<string, unknown>>

/** Reads the rows of an answer into memory. */
export const readRows = async ({ columns, rows }: QueryResult): Promise<readonly QueryRow[]> => {
  const all: QueryRow[] = []
  for await (const chunk of rows)
    for (const row of chunk) all.push(Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])))
  return all
}

/** Rows of a lake as a target takes them. */

import { ident } from '../duckdb/sql.ts'
import type { Table } from '../tables/tables.ts'
import type { CompiledTake } from './compile-take.ts'

/**
 * The rows of a table that belong to records which are taken, as they are taken.
 *
 * @param rows a SELECT of the table's rows
 * @param records a SELECT of the rows of its content's own table, which has one a record; `version` of the columns that tell
 *   versions apart, where both have them
 */
export const takenRows = (
  take: CompiledTake,
  { name, content, owner = '' }: Table,
  rows: string,
  records: string,
  version: readonly string[] = [],
): string => {
  const condition = content && take.condition(content)
  if (condition === undefined) return take.select(name, `(${rows})`)
  const own = [owner, ...version].map(ident).join(', ')
  const of = ['internal_id', ...version].map(ident).join(', ')
  const some = `SELECT * FROM (${rows}) WHERE (${own}) IN (SELECT (${of}) FROM (${records}) WHERE ${condition})`
  return take.select(name, `(${some})`)
}

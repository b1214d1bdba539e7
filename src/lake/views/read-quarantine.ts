/** Reads the quarantine's JSON Lines files. */

import { ident, literal } from '../duckdb/sql.ts'
import { QUARANTINE } from '../tables/tables.ts'
import { pathList } from './current-versions.ts'

/** Largest quarantined line with its escapes that can be read, in bytes: six for each of 16 MiB and some more. */
const LARGEST_LINE_BYTES = 128 * 1024 * 1024
const LEAST_LINE_BYTES = 1024 * 1024

interface LinesFile {
  readonly path: string
  /** Length of the file: no line of it is longer, and DuckDB's buffers are twice the longest line. */
  readonly bytes: number
}

/**
 * Rows of the given files, with the partition each belongs to.
 *
 * @param listSql the list of their paths in SQL
 */
export const readQuarantine = (files: readonly LinesFile[], listSql: string = pathList(files)): string => {
  const columns = QUARANTINE.columns
  if (files.length === 0) {
    const none = columns.map(({ name, type }) => `NULL::${type} AS ${ident(name)}`)
    return `SELECT NULL::VARCHAR AS partition, ${none.join(', ')} WHERE false`
  }
  const largest = Math.max(LEAST_LINE_BYTES, ...files.map(({ bytes }) => bytes))
  const types = columns.map(({ name, type }) => `${ident(name)}: ${literal(type)}`)
  return `SELECT regexp_extract(filename, '([^/\\\\]+)\\.jsonl$', 1) AS partition, ${columns.map(({ name }) => ident(name)).join(', ')}
FROM read_ndjson(${listSql}, columns = {${types.join(', ')}}, auto_detect = false,
  records = true, filename = true, maximum_object_size = ${Math.min(LARGEST_LINE_BYTES, largest)})`
}

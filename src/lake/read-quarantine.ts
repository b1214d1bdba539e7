/** Reads the quarantine's JSON Lines files. */

import { ident, literal } from './sql.ts'
import { QUARANTINE } from './tables.ts'

/** Largest quarantined line with its escapes that can be read, in bytes. */
const LARGEST_LINE_BYTES = 128 * 1024 * 1024

/** Rows of the given files, with the partition each belongs to. */
export const readQuarantine = (paths: readonly string[]): string => {
  const columns = QUARANTINE.columns
  if (paths.length === 0) {
    const none = columns.map(({ name, type }) => `NULL::${type} AS ${ident(name)}`)
    return `SELECT NULL::VARCHAR AS partition, ${none.join(', ')} WHERE false`
  }
  const types = columns.map(({ name, type }) => `${ident(name)}: ${literal(type)}`)
  return `SELECT regexp_extract(filename, '([^/\\\\]+)\\.jsonl$', 1) AS partition, ${columns.map(({ name }) => ident(name)).join(', ')}
FROM read_ndjson([${paths.map(literal).join(', ')}], columns = {${types.join(', ')}}, auto_detect = false,
  records = true, filename = true, maximum_object_size = ${LARGEST_LINE_BYTES})`
}

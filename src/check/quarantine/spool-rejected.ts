/** Rejected lines on their way to DuckDB: a file that it reads, gone once their rows are written. */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import type { RejectedLine } from '../../core/lines.ts'
import { ident, literal, NO_FOLDER_COLUMNS, pathSql } from '../../lake/duckdb/sql.ts'
import { QUARANTINE } from '../../lake/tables/tables.ts'
import { removeIfThere } from '../../support/durable-files.ts'
import { PRIVATE_FILE } from '../../support/file-modes.ts'

/** A line whose text may not be kept. */
type SpooledLine = Omit<RejectedLine, 'raw'> & Partial<Pick<RejectedLine, 'raw'>>

const MIN_OBJECT_BYTES = 1024 * 1024

const readLines = (path: string, columns: Readonly<Record<string, string>>, largestBytes: number): string =>
  `read_ndjson(${pathSql(path)}, ${NO_FOLDER_COLUMNS}, columns = {${Object.entries(columns)
    .map(([name, type]) => `${ident(name)}: ${literal(type)}`)
    .join(', ')}}, auto_detect = false, records = true, maximum_object_size = ${largestBytes})`

/** Writes rejected lines as rows of `quarantine`; returns the relation of them. */
export const spoolRejected = async (
  folder: string,
  name: string,
  rejected: readonly SpooledLine[],
  origin: { readonly source: string; readonly content: string },
): Promise<{ readonly sql: string; readonly remove: () => Promise<void> }> => {
  const path = join(folder, `${name}.quarantine.jsonl`)
  try {
    const file = await open(path, 'w', PRIVATE_FILE)
    try {
      for (const line of rejected) await file.appendFile(`${JSON.stringify(quarantineRow(line, origin))}\n`)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw writeError(`Cannot stage quarantined lines of block "${name}"`, error)
  }
  const columns = Object.fromEntries(QUARANTINE.columns.map(({ name: column, type }) => [column, type]))
  const largest = Math.max(
    MIN_OBJECT_BYTES,
    64 + 8 * Math.max(0, ...rejected.map(({ raw }) => raw?.length ?? 0)),
  )
  return {
    sql: `SELECT * FROM ${readLines(path, columns, largest)} ORDER BY ${inSourceOrder(rejected, origin.source)}line`,
    remove: () => removeIfThere(path),
  }
}

/** Lines of several sources stand in the order of these. */
const inSourceOrder = (rejected: readonly SpooledLine[], own: string): string => {
  const names = new Set(rejected.map(({ source = own }) => source))
  return names.size > 1 ? `list_position([${[...names].map(literal).join(', ')}], source), ` : ''
}

/** A line of which only the place, the length and the reason are kept; that without names that are not of the contract. */
export const withoutText = ({ raw: _, reason, ...line }: RejectedLine): SpooledLine => {
  const [, figures] = FIGURES.exec(reason) ?? []
  return {
    ...line,
    reason: figures === undefined ? reason : `${figures} has a name or a figure that is wrong`,
  }
}
/** The names in figures are the data's own. */
const FIGURES = /^((?:Unconsolidated)?Financials)\./

const quarantineRow = (
  { source, line, offset, sizeBytes, code, reason, raw }: SpooledLine,
  origin: { readonly source: string; readonly content: string },
): Readonly<Record<string, string | number | null>> => {
  const text = raw?.toString('utf8') ?? null
  const exact = raw === undefined || Buffer.from(text ?? '', 'utf8').equals(raw)
  return {
    ...origin,
    ...(source !== undefined && { source }),
    line,
    byte_offset: offset,
    size_bytes: sizeBytes,
    code,
    reason,
    raw: exact ? text : null,
    raw_base64: exact || raw === undefined ? null : raw.toString('base64'),
  }
}

/** Blocks on their way to DuckDB: files that it reads, gone once their rows are written. */

import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { writeError } from '../core/errors.ts'
import type { RejectedLine } from '../core/reject.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { discard } from '../support/durable-files.ts'
import { PRIVATE_FILE } from '../support/file-modes.ts'
import type { CheckedPart, Stretch } from './check-block.ts'
import type { Scan } from './companies.ts'

export interface Spooled {
  /** Reads the lines with the given columns. */
  readonly scan: Scan
  /** Reads the lines without their figures: of a company a fifth of the bytes, so a fifth of the time. */
  readonly profiles: Scan
  /** A relation of `id`, `extra`; absent where no record has unknown fields. */
  readonly extras: string | undefined
  /** A relation of exact values by the key of `financials`; absent where there is none. */
  readonly exact: string | undefined
  readonly remove: () => Promise<void>
}

/** Writes the lines of a part, and what its records have beyond the contract. @throws {ToolkitError} DISK_FULL */
export const spoolPart = async (
  folder: string,
  name: string,
  bytes: Buffer,
  part: CheckedPart,
): Promise<Spooled> => {
  const lines = join(folder, `${name}.jsonl`)
  const profiles = join(folder, `${name}.profiles.jsonl`)
  const extras = join(folder, `${name}.extras.jsonl`)
  const exact = join(folder, `${name}.exact.jsonl`)
  try {
    await writeStretches(lines, bytes, part.stretches)
    if (part.figures.length > 0)
      await writeFile(profiles, withoutFigures(bytes, part), { mode: PRIVATE_FILE })
    if (part.extras.length > 0) await writeFile(extras, extraLines(part.extras), { mode: PRIVATE_FILE })
    if (part.exact.length > 0)
      await writeFile(exact, part.exact.map(exactLines).join(''), { mode: PRIVATE_FILE })
  } catch (error) {
    throw writeError(`Cannot spool block "${name}"`, error)
  }
  // DuckDB's buffers are twice the largest object it must expect: small ones keep memory low and threads busy.
  const largest = Math.max(LEAST_OBJECT_BYTES, part.longestLine)
  return {
    scan: (columns) => readLines(lines, columns, largest),
    profiles: (columns) => readLines(part.figures.length > 0 ? profiles : lines, columns, largest),
    extras:
      part.extras.length > 0
        ? readLines(extras, { id: 'BIGINT', extra: 'VARCHAR' }, LEAST_OBJECT_BYTES * 64)
        : undefined,
    exact: part.exact.length > 0 ? readLines(exact, EXACT_COLUMNS, largest) : undefined,
    remove: async () => {
      for (const path of [lines, profiles, extras, exact]) await discard(path)
    },
  }
}

const writeStretches = async (path: string, bytes: Buffer, stretches: readonly Stretch[]): Promise<void> => {
  const file = await open(path, 'w', PRIVATE_FILE)
  try {
    for (let at = 0; at < stretches.length; at += WRITES_AT_ONCE) {
      const some = stretches.slice(at, at + WRITES_AT_ONCE)
      const { bytesWritten } = await file.writev(some.map(([from, to]) => bytes.subarray(from, to)))
      // A disk that fills up takes part of the bytes without an error.
      if (bytesWritten < sizeOf(some)) throw new Error('no space left on device')
    }
  } finally {
    await file.close()
  }
}
/** A system takes no more than 1024 pieces in one call. */
const WRITES_AT_ONCE = 1024

/** The lines with an empty object in place of each record's figures. */
const withoutFigures = (bytes: Buffer, { stretches, figures }: CheckedPart): Buffer => {
  const size = sizeOf(stretches) - sizeOf(figures) + NO_FIGURES.length * figures.length
  const result = Buffer.allocUnsafe(size)
  let at = 0
  let next = 0
  for (const [from, to] of stretches) {
    let kept = from
    for (let cut = figures[next]; cut !== undefined && cut[0] < to; cut = figures[++next]) {
      at += bytes.copy(result, at, kept, cut[0])
      at += NO_FIGURES.copy(result, at)
      kept = cut[1]
    }
    at += bytes.copy(result, at, kept, to)
  }
  return result
}
const NO_FIGURES = Buffer.from('{}')
const sizeOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, [from, to]) => sum + to - from, 0)

const LEAST_OBJECT_BYTES = 1024 * 1024

const extraLine = ({ id, extra }: { readonly id: string; readonly extra: string }): string =>
  `{"id":${id},"extra":${JSON.stringify(extra)}}\n`

/** The lines in pieces of about a megabyte: one text of all would be as large as the block once more. */
function* extraLines(extras: CheckedPart['extras']): Generator<string> {
  let piece = ''
  for (const one of extras) {
    piece += extraLine(one)
    if (piece.length < EXTRAS_AT_ONCE) continue
    yield piece
    piece = ''
  }
  yield piece
}
const EXTRAS_AT_ONCE = 1024 * 1024

const EXACT_COLUMNS = {
  internal_id: 'BIGINT',
  consolidation: 'consolidation',
  category: 'category',
  line_item: 'line_item',
  fiscal_year: 'SMALLINT',
  exact_value: 'DOUBLE',
}
const consolidationOf = (statement: string): string =>
  CONSOLIDATIONS.find(({ field }) => field === statement)?.name ?? statement
const exactLines = ({ id, figures }: CheckedPart['exact'][number]): string =>
  figures
    .map(
      ({ statement, category, lineItem, fiscalYear, value }) =>
        `{"internal_id":${id},${JSON.stringify({
          consolidation: consolidationOf(statement),
          category,
          line_item: lineItem,
          fiscal_year: Number(fiscalYear),
          exact_value: value,
        }).slice(1)}\n`,
    )
    .join('')

const readLines = (path: string, columns: Readonly<Record<string, string>>, largestBytes: number): string =>
  `read_ndjson(${literal(path)}, columns = {${Object.entries(columns)
    .map(([name, type]) => `${ident(name)}: ${literal(type)}`)
    .join(', ')}}, auto_detect = false, records = true, maximum_object_size = ${largestBytes})`

/** Writes rejected lines as rows of `quarantine`; returns the relation of them. */
export const spoolRejected = async (
  folder: string,
  name: string,
  rejected: readonly RejectedLine[],
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
    throw writeError(`Cannot spool quarantined lines of block "${name}"`, error)
  }
  const columns = Object.fromEntries(QUARANTINE.columns.map(({ name: column, type }) => [column, type]))
  const largest = Math.max(LEAST_OBJECT_BYTES, 64 + 8 * Math.max(0, ...rejected.map(({ raw }) => raw.length)))
  return {
    sql: `SELECT * FROM ${readLines(path, columns, largest)} ORDER BY line`,
    remove: () => discard(path),
  }
}

const quarantineRow = (
  { line, offset, sizeBytes, code, reason, raw }: RejectedLine,
  origin: { readonly source: string; readonly content: string },
): Readonly<Record<string, string | number | null>> => {
  const text = raw.toString('utf8')
  const exact = Buffer.from(text, 'utf8').equals(raw)
  return {
    ...origin,
    line,
    byte_offset: offset,
    size_bytes: sizeBytes,
    code,
    reason,
    raw: exact ? text : null,
    raw_base64: exact ? null : raw.toString('base64'),
  }
}

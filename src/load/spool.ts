/** Blocks on their way to DuckDB: files that it reads, gone once their rows are written. */

import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { RejectedLine } from '../core/reject.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { discard } from '../support/durable-files.ts'
import { PRIVATE_FILE } from '../support/file-modes.ts'
import type { CheckedPart } from './check-block.ts'
import type { Scan } from './companies.ts'

export interface Spooled {
  /** Reads the lines, without the figures of companies, with the given columns. */
  readonly scan: Scan
  /** A relation of `id`, `extra`; absent where no record has unknown fields. */
  readonly extras: string | undefined
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
  const extras = join(folder, `${name}.extras.jsonl`)
  const { members, rows } = part
  const hasExtras = rows.extras.size > 0 && members.some((record) => rows.extras.has(record))
  try {
    await writePieces(lines, linePieces(bytes, part))
    if (hasExtras) await writeFile(extras, extraLines(part), { mode: PRIVATE_FILE })
  } catch (error) {
    throw writeError(`Cannot stage block "${name}"`, error)
  }
  // DuckDB's buffers are twice the largest object it must expect: small ones keep memory low and threads busy.
  const largest = Math.max(LEAST_OBJECT_BYTES, longestLine(part))
  return {
    scan: (columns) => readLines(lines, columns, largest),
    extras: hasExtras
      ? readLines(
          extras,
          { id: 'BIGINT', extra: 'VARCHAR' },
          Math.max(LEAST_OBJECT_BYTES, longestExtra(part)),
        )
      : undefined,
    remove: async () => {
      for (const path of [lines, extras]) await discard(path)
    },
  }
}

const writePieces = async (path: string, pieces: Iterable<Buffer>): Promise<void> => {
  const file = await open(path, 'w', PRIVATE_FILE)
  try {
    for (const piece of pieces) {
      const { bytesWritten } = await file.write(piece)
      // A disk that fills up takes part of the bytes without an error.
      if (bytesWritten < piece.length) throw new Error('no space left on device')
    }
  } finally {
    await file.close()
  }
}

/**
 * The lines of a part with an empty object in place of each record's figures, which are in columns already. A piece is
 * to be written before the next one is asked for.
 */
function* linePieces(bytes: Buffer, { rows, members }: CheckedPart): Generator<Buffer> {
  const { start, next, cuts } = rows
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  let filled = 0
  // Bytes that are kept and not copied yet: whole lines without figures are one run.
  let from = 0
  let to = 0
  for (const record of members) {
    const lineEnd = next[record]!
    if (start[record]! !== to) {
      yield* takeRun()
      from = start[record]!
    }
    for (let cut = record * CUTS; cut < record * CUTS + CUTS && cuts[cut]! < lineEnd; cut += 2) {
      to = cuts[cut]!
      yield* takeRun()
      yield* take(NO_FIGURES)
      from = cuts[cut + 1]!
    }
    to = lineEnd
  }
  yield* takeRun()
  yield piece.subarray(0, filled)

  function* takeRun(): Generator<Buffer> {
    if (to > from) yield* take(bytes.subarray(from, to))
  }
  function* take(some: Buffer): Generator<Buffer> {
    if (filled + some.length > PIECE_BYTES) {
      yield piece.subarray(0, filled)
      filled = 0
    }
    if (some.length > PIECE_BYTES) yield some
    else filled += some.copy(piece, filled)
  }
}
const PIECE_BYTES = 256 * 1024
const NO_FIGURES = Buffer.from('{}')
/** From and to of the two statements that a record may have. */
const CUTS = 4

const longestLine = ({ rows: { start, next, cuts }, members }: CheckedPart): number => {
  let longest = 0
  for (const record of members) {
    let size = next[record]! - start[record]!
    for (let cut = record * CUTS; cut < record * CUTS + CUTS; cut += 2)
      size -= Math.max(0, cuts[cut + 1]! - cuts[cut]! - NO_FIGURES.length)
    longest = Math.max(longest, size)
  }
  return longest
}

const LEAST_OBJECT_BYTES = 1024 * 1024

const extraLine = (id: bigint, extra: string): string => `{"id":${id},"extra":${JSON.stringify(extra)}}\n`

const longestExtra = ({ rows, members }: CheckedPart): number =>
  members.reduce((longest, record) => {
    const extra = rows.extras.get(record)
    if (extra === undefined) return longest
    return Math.max(longest, Buffer.byteLength(extraLine(rows.id[record]!, extra)))
  }, 0)

/** The lines in pieces of about a megabyte: one text of all would be as large as the block once more. */
function* extraLines({ rows, members }: CheckedPart): Generator<string> {
  let piece = ''
  for (const record of members) {
    const extra = rows.extras.get(record)
    if (extra === undefined) continue
    piece += extraLine(rows.id[record]!, extra)
    if (piece.length < EXTRAS_AT_ONCE) continue
    yield piece
    piece = ''
  }
  yield piece
}
const EXTRAS_AT_ONCE = 1024 * 1024

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
    throw writeError(`Cannot stage quarantined lines of block "${name}"`, error)
  }
  const columns = Object.fromEntries(QUARANTINE.columns.map(({ name: column, type }) => [column, type]))
  const largest = Math.max(LEAST_OBJECT_BYTES, 64 + 8 * Math.max(0, ...rejected.map(({ raw }) => raw.length)))
  return {
    sql: `SELECT * FROM ${readLines(path, columns, largest)} ORDER BY ${inSourceOrder(rejected, origin.source)}line`,
    remove: () => discard(path),
  }
}

/** Lines of several sources stand in the order of these. */
const inSourceOrder = (rejected: readonly RejectedLine[], own: string): string => {
  const names = new Set(rejected.map(({ source = own }) => source))
  return names.size > 1 ? `list_position([${[...names].map(literal).join(', ')}], source), ` : ''
}

const quarantineRow = (
  { source, line, offset, sizeBytes, code, reason, raw }: RejectedLine,
  origin: { readonly source: string; readonly content: string },
): Readonly<Record<string, string | number | null>> => {
  const text = raw.toString('utf8')
  const exact = Buffer.from(text, 'utf8').equals(raw)
  return {
    ...origin,
    ...(source !== undefined && { source }),
    line,
    byte_offset: offset,
    size_bytes: sizeBytes,
    code,
    reason,
    raw: exact ? text : null,
    raw_base64: exact ? null : raw.toString('base64'),
  }
}

/**
 * Columns of a relation as PostgreSQL has them: the type there, the text by which COPY takes a value, and a small file
 * with them beside each staged CSV file, since another process may load it.
 */

import { readFile, stat } from 'node:fs/promises'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/partition.ts'
import type { CopyFormat, RowColumn } from '../../core/sink.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { replaceDurably } from '../../support/durable-files.ts'
import { anyText, type Form, objectOf, parseAs, someOf } from '../../support/json-form.ts'

/** A column of a table of PostgreSQL; `type` as `format_type` writes it. */
export interface TargetColumn {
  readonly name: string
  readonly type: string
}

const TYPES: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'smallint',
  SMALLINT: 'smallint',
  INTEGER: 'integer',
  BIGINT: 'bigint',
  UTINYINT: 'smallint',
  USMALLINT: 'integer',
  UINTEGER: 'bigint',
  UBIGINT: 'numeric',
  HUGEINT: 'numeric',
  UHUGEINT: 'numeric',
  FLOAT: 'real',
  DOUBLE: 'double precision',
  VARCHAR: 'text',
  DATE: 'date',
  TIME: 'time without time zone',
  TIMESTAMP: 'timestamp without time zone',
  TIMESTAMP_S: 'timestamp without time zone',
  TIMESTAMP_MS: 'timestamp without time zone',
  TIMESTAMPTZ: 'timestamp with time zone',
  'TIMESTAMP WITH TIME ZONE': 'timestamp with time zone',
  UUID: 'uuid',
  BLOB: 'bytea',
  JSON: 'jsonb',
}

/** Whether a type of DuckDB is a list, an array, a struct or a map. */
const isNested = (type: string): boolean => /\]$|^(STRUCT|MAP|UNION)\(/.test(type)

/** The type of PostgreSQL that holds all values of a type of DuckDB; what has no counterpart is text. */
const targetType = (type: string): string => {
  if (isNested(type)) return 'jsonb'
  const decimal = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type)
  if (decimal) return `numeric(${decimal[1]},${decimal[2]})`
  return TYPES[type] ?? 'text'
}

/** PostgreSQL cuts longer names off without an error. */
const LONGEST_NAME_BYTES = 63

/** @throws {ToolkitError} TARGET_REFUSED */
export const checkNameLength = (what: string, name: string): void => {
  const bytes = Buffer.byteLength(name)
  if (bytes > 0 && bytes <= LONGEST_NAME_BYTES && !name.includes('\0')) return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot name ${what} "${name.replaceAll('\0', '\\0')}" in PostgreSQL: it has ${bytes} bytes, expected 1 to ${LONGEST_NAME_BYTES} and no NUL`,
  )
}

/** @throws {ToolkitError} TARGET_REFUSED for a name that PostgreSQL cannot hold */
export const targetColumns = (columns: readonly RowColumn[]): readonly TargetColumn[] =>
  columns.map(({ name, type }) => {
    checkNameLength('a column', name)
    return { name, type: targetType(type) }
  })

/**
 * JSON text in which U+0000 stands as itself instead of as `\u0000`, which jsonb refuses: with it goes what is done
 * to the character in any other text. An escaped backslash before `u0000` is no such escape, so pairs of
 * backslashes are put out of sight first, behind a character that JSON text never holds.
 */
const jsonOf = (json: string): string => String.raw`CASE WHEN contains(${json}, '\u0000')
  THEN replace(replace(replace(${json}, '\\', chr(1)), '\u0000', chr(0)), chr(1), '\\') ELSE ${json} END`

/** A value as PostgreSQL reads it. */
const valueText = ({ name, type }: RowColumn): string => {
  const column = ident(name)
  if (isNested(type)) return jsonOf(`to_json(${column})::VARCHAR`)
  switch (targetType(type)) {
    case 'jsonb':
      return jsonOf(`${column}::VARCHAR`)
    case 'bytea':
      return `'\\x' || lower(hex(${column}))`
    case 'date':
    case 'timestamp without time zone':
    case 'timestamp with time zone':
      // `0044-03-15 (BC) 00:00:00+00` is written with the era at its end.
      return `CASE WHEN ${column} < DATE '0001-01-01' AND isfinite(${column})
  THEN replace(${column}::VARCHAR, ' (BC)', '') || ' BC' ELSE ${column}::VARCHAR END`
    case 'text':
      return `${column}::VARCHAR`
    default:
      return column
  }
}

/** A text in quotes, as CSV has it. */
const quoted = (text: string): string => `'"' || replace(${text}, '"', '""') || '"'`

/**
 * The rows of a relation as COPY takes them, and the format of their file.
 *
 * A row that is nothing but `\.` ends the data of a COPY, and what follows is lost without a word: a value that is
 * alone in its row is always in quotes.
 */
export const copyForm = (
  columns: readonly RowColumn[],
): { readonly select: (from: string) => string; readonly format: CopyFormat } => {
  const [only] = columns
  const format = { kind: 'csv', nullText: '', header: false } as const
  if (only && columns.length === 1) {
    const text = quoted(`(${valueText(only)})::VARCHAR`)
    return {
      select: (from) => `SELECT ${text} AS ${ident(only.name)} FROM ${from}`,
      format: { ...format, wholeRecords: true },
    }
  }
  const values = columns.map((column) => `${valueText(column)} AS ${ident(column.name)}`)
  return { select: (from) => `SELECT ${values.join(',\n  ')}\nFROM ${from}`, format }
}

const columnsPath = (staged: string): string => `${staged}.columns.json`

export const writeColumns = (staged: string, columns: readonly TargetColumn[]): Promise<void> =>
  replaceDurably(columnsPath(staged), `${JSON.stringify(columns)}\n`)

const COLUMNS: Form<readonly TargetColumn[]> = someOf(objectOf({ name: anyText, type: anyText }))

/** @throws {ToolkitError} TARGET_FAILED when it is not there */
export const readColumns = async (staged: string): Promise<readonly TargetColumn[]> => {
  const columns = parseAs(COLUMNS, await readFile(columnsPath(staged), 'utf8').catch(() => ''))
  if (columns === undefined) throw gone(staged)
  return columns
}

/** @throws {ToolkitError} TARGET_FAILED when a staged file is not there as its receipt says */
export const checkStagedFile = async (staged: string, { bytes }: FileEntry): Promise<void> => {
  try {
    if ((await stat(staged)).size === bytes) return
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  throw gone(staged)
}

const gone = (staged: string): ToolkitError =>
  new ToolkitError(
    'TARGET_FAILED',
    `Cannot load "${staged}": it is missing or cut, expected it as it was staged`,
  )

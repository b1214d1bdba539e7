/**
 * Rows of a table in their order on disk, to be taken from one number to another. DuckDB sorts them into a database file of its own;
 * they are then read by their numbers alone, as often as it takes to meet a size.
 *
 * A sort beyond memory writes several times its rows to disk. So ranges of records are sorted one after the other, each in memory.
 * Ranges are by the record's id alone, because in files as they are loaded the rows of neighbouring ids stand together, and those of
 * a country do not. Where the order begins with the country, each sorted range has one segment for each country, and the order of all
 * rows is the first country's segments, range by range, then the next country's.
 */

import { memoryError, messageOf, writeError } from '../../core/errors.ts'
import type { TableRows } from '../../core/sink.ts'
import { type AttachedDatabase, attachDatabase } from '../duckdb/database-files.ts'
import type { Session } from '../duckdb/engine.ts'
import { ident } from '../duckdb/sql.ts'
import { fieldIds } from './field-ids.ts'
import { nameWithoutPast } from './past-tables.ts'
import type { Table } from './tables.ts'

/**
 * Tables whose texts are all of closed sets. As ENUM they are sorted in a third of the time and of the room; the
 * files say text again, so that they have least and greatest values.
 */
const CLOSED_STRINGS: ReadonlySet<string> = new Set(['financials', 'employees'])

/** Rows of a row group of a table with many columns: DuckDB holds one for each thread. */
const WIDE_GROUP_ROWS = 8_192
const WIDE_COLUMNS = 20

/** Rows of a row group of a table of these columns; `undefined`: as many as DuckDB likes. */
export const rowGroupRows = ({ length }: readonly unknown[]): number | undefined =>
  length > WIDE_COLUMNS ? WIDE_GROUP_ROWS : undefined

/** More distinct values are no closed set. */
const MOST_VALUES = 10_000

/** Alias of the database that holds a sorted table. */
const SORTED = 'compact_sorted'

/** The order of rows: first where a company is, then the key. A record's rows stand together. */
export const compactOrder = ({ key, columns }: Table): readonly string[] =>
  key.includes('internal_id') && columns.some(({ name }) => name === 'country_code')
    ? ['country_code', ...key]
    : key

export interface SortRequest {
  readonly session: Session
  readonly table: Table
  /** SQL of the rows. */
  readonly rows: string
  /** Closed texts of all rows, those before them too. */
  readonly enums: Enums
  /** SQL of rows that stand in their order, and before all of these. @default none */
  readonly before?: string | undefined
  /** Conditions on the rows' owner: ranges, the lowest first, of which each owner is in one. @default one of all */
  readonly ranges?: readonly string[] | undefined
  /** Hears when a range is sorted. */
  readonly onRange?: (() => void) | undefined
  /** Absolute path of the database file to sort into; there must be none. */
  readonly path: string
}

export interface SortedRows {
  readonly rows: number
  /** Rows `from` up to but without `until`, in order. */
  readonly slice: (from: number, until: number) => TableRows
  /**
   * The first row from `from` on for which a condition holds; it has to hold for all rows behind that one too.
   *
   * @param condition SQL over the columns as they are declared
   */
  readonly find: (condition: string, from: number) => Promise<number>
  /** Ends the use of the file; the caller, who gave its path, removes it. */
  readonly close: () => Promise<void>
}

/** A disk that is full shows in the text of DuckDB's errors; what it could not put aside is a full disk too. */
export const diskError = (action: string, error: unknown): unknown => {
  const text = messageOf(error)
  if (/max_temp_directory_size|failed to offload/.test(text))
    return writeError(action, new Error(`no space left on device: ${text}`, { cause: error }))
  return /IO Error|no space left/i.test(text) ? writeError(action, error) : error
}

/** The file goes away next: that a full disk kept it from being brought up to date is nothing to stop for. */
const close = async (attached: AttachedDatabase | undefined): Promise<void> => {
  try {
    await attached?.drop()
  } catch (error) {
    if (!/CHECKPOINT during DETACH failed/.test(messageOf(error))) throw error
  }
}

const enumName = (column: string): string => `compact_${column}`

/** Closed texts of a table whose ENUM types a session has. */
export type Enums = ReadonlySet<string>

/**
 * Makes an ENUM type of each closed text; its values are in the order of the texts.
 *
 * @param texts SQL of rows that have all of them
 */
export const makeEnums = async (
  session: Session,
  table: Table,
  strings: readonly string[],
): Promise<Enums> => {
  if (!CLOSED_STRINGS.has(nameWithoutPast(table.name))) return new Set()
  const columns = table.columns.filter(({ type }) => type === 'VARCHAR').map(({ name }) => name)
  for (const name of columns) {
    const all = strings.map((rows) => `SELECT ${ident(name)} AS value FROM (${rows})`)
    const distinct = `SELECT DISTINCT value FROM (${all.join(' UNION ALL ')}) WHERE value IS NOT NULL`
    const rows = await session.rows(`${distinct} ORDER BY value LIMIT ${MOST_VALUES + 1}`)
    await session.setEnum(
      enumName(name),
      rows.map(({ value }) => String(value)),
    )
  }
  return new Set(columns)
}

/** The columns of rows with their closed texts as ENUM. */
export const withEnums = ({ columns }: Pick<Table, 'columns'>, enums: Enums): string =>
  columns
    .map(({ name }) =>
      enums.has(name) ? `CAST(${ident(name)} AS ${ident(enumName(name))}) AS ${ident(name)}` : ident(name),
    )
    .join(', ')

/** Two threads would read segments side by side, and hold the later ones until the earlier ones are written. */
const withOneThread = async <T>(session: Session, use: () => Promise<T>): Promise<T> => {
  const [found] = await session.rows("SELECT current_setting('threads') AS threads")
  await session.run('SET threads = 1')
  try {
    return await use()
  } finally {
    await session.run(`SET threads = ${String(found?.threads)}`)
  }
}

/** Rows whose columns are those of a table: a sink that writes ids of columns knows those that the lake's readers have. */
export const withIdsOf = ({ name, columns }: Table, rows: TableRows): TableRows => ({
  ...rows,
  copyTo: (path, format) => {
    const ids = format.kind === 'parquet' && format.fieldIds !== undefined && fieldIds(name, columns)
    return rows.copyTo(path, ids ? { ...format, fieldIds: ids } : format)
  },
})

/** Rows of a sorted table to be written: of one with many columns in row groups that are small enough to be held. */
const toBeWritten = (
  session: Session,
  rows: TableRows,
  { parts, groupRows }: { readonly parts: number; readonly groupRows: number | undefined },
): TableRows => ({
  ...rows,
  copyTo: async (path, format) => {
    const grouped = format.kind === 'parquet' && groupRows !== undefined
    const copy = () => rows.copyTo(path, grouped ? { ...format, rowGroupRows: groupRows } : format)
    const receipt = await (parts > 1 ? withOneThread(session, copy) : copy())
    await session.releaseMemory()
    return receipt
  },
})

/** Rows with neighbouring numbers in the database: from the first up to but without `behind`. */
interface Segment {
  readonly first: number
  readonly behind: number
}

const COUNTRY = 'country_code'

/**
 * The segments of sorted ranges in the order of their rows.
 *
 * @param ends of the ranges, the number behind the last row of each
 */
const segmentsOf = async (
  session: Session,
  table: Table,
  ends: readonly number[],
): Promise<readonly Segment[]> => {
  const behind = ends.at(-1) ?? 0
  if (ends.length < 2 || compactOrder(table)[0] !== COUNTRY) return [{ first: 0, behind }]
  const byCountry = ends.map(
    (end, range) => `SELECT ${COUNTRY}, ${range} AS range, min(rowid) AS first, max(rowid) + 1 AS behind
FROM ${SORTED}.sorted WHERE rowid >= ${ends[range - 1] ?? 0} AND rowid < ${end} GROUP BY ${COUNTRY}`,
  )
  const rows = await session.rows(`FROM (${byCountry.join(' UNION ALL ')}) ORDER BY ${COUNTRY}, range`)
  const segments: Segment[] = []
  for (const { first, behind: end } of rows) {
    const last = segments.at(-1)
    const segment = { first: Number(first), behind: Number(end) }
    if (last?.behind === segment.first) segments.splice(-1, 1, { ...segment, first: last.first })
    else segments.push(segment)
  }
  return segments
}

/** Parts of segments that hold the rows `from` up to but without `until` of all of them. */
const partsOf = (segments: readonly Segment[], from: number, until: number): readonly Segment[] => {
  const parts: Segment[] = []
  let before = 0
  for (const { first, behind } of segments) {
    const part = {
      first: first + Math.max(0, from - before),
      behind: Math.min(behind, first + until - before),
    }
    if (part.first < part.behind) parts.push(part)
    before += behind - first
  }
  return parts
}

/** Makes the table of sorted rows. @returns the number behind the last row of each range */
const fillSorted = async (
  { session, table, rows, before, ranges = ['true'], onRange }: SortRequest,
  columns: string,
): Promise<readonly number[]> => {
  const order = compactOrder(table).map(ident).join(', ')
  const selects = [
    ...(before === undefined ? [] : [`SELECT ${columns} FROM (${before})`]),
    ...ranges.map((range) => `SELECT ${columns} FROM (${rows}) WHERE ${range}\nORDER BY ${order}`),
  ]
  const ends: number[] = []
  for (const select of selects) {
    await session.run(
      ends.length === 0
        ? `CREATE TABLE ${SORTED}.sorted AS ${select}`
        : `INSERT INTO ${SORTED}.sorted ${select}`,
    )
    await session.releaseMemory()
    const [counted] = await session.rows(`SELECT count(*) AS rows FROM ${SORTED}.sorted`)
    ends.push(Number(counted?.rows))
    if (before === undefined || ends.length > 1) onRange?.()
  }
  return ends
}

/**
 * Sorts rows of a table. The session keeps the order of rows (`keepOrder`).
 *
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `MEMORY_FULL`
 */
export const sortRows = async (request: SortRequest): Promise<SortedRows> => {
  const { session, table, path, enums } = request
  const given = table.columns.map(({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`)
  const groupRows = rowGroupRows(table.columns)
  // A thread that writes a file holds as many rows as a group of this database has.
  const groups = groupRows === undefined ? [] : [`ROW_GROUP_SIZE ${groupRows}`]
  let attached: AttachedDatabase | undefined
  let segments: readonly Segment[]
  try {
    await session.releaseMemory()
    // Nobody reads the file after a crash, and a log would take room on the disk.
    attached = await attachDatabase(session, path, SORTED, ['RECOVERY_MODE no_wal_writes', ...groups])
    segments = await segmentsOf(session, table, await fillSorted(request, withEnums(table, enums)))
  } catch (error) {
    await attached?.drop().catch(() => undefined)
    const action = `Cannot sort table "${table.name}"`
    throw memoryError(action, error) ?? diskError(action, error)
  }
  const rows = segments.reduce((sum, { first, behind }) => sum + behind - first, 0)
  const select = (parts: readonly Segment[]): string =>
    parts
      .map(
        ({ first, behind }) =>
          `SELECT ${given.join(', ')} FROM ${SORTED}.sorted WHERE rowid >= ${first} AND rowid < ${behind}`,
      )
      .join(' UNION ALL ')
  return {
    rows,
    slice: (from, until) => {
      const parts = partsOf(segments, from, until)
      const rows = withIdsOf(table, session.relation(select(parts)))
      return toBeWritten(session, rows, { parts: parts.length, groupRows })
    },
    find: async (condition, from) => {
      let [low, high] = [from, rows]
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const [found] = await session.rows(
          `SELECT ${condition} AS behind FROM (${select(partsOf(segments, middle, middle + 1))})`,
        )
        if (found?.behind === true) high = middle
        else low = middle + 1
      }
      return low
    },
    close: () => close(attached),
  }
}

/** Rows go into files in the order in which a query gives them; DuckDB must not have given that up. */
export const keepOrder = (session: Session): Promise<void> =>
  session.run('SET preserve_insertion_order = true')

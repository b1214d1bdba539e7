/**
 * Rows of a table in their order on disk, to be taken in runs of rows. DuckDB sorts them beyond memory
 * into a database file of its own; a run of rows is then read by its numbers alone, as often as it takes to meet a size.
 */

import { memoryError, messageOf, writeError } from '../../core/errors.ts'
import type { TableRows } from '../../core/sink.ts'
import { type AttachedDatabase, attachDatabase } from '../duckdb/database-files.ts'
import type { Session } from '../duckdb/engine.ts'
import { ident } from '../duckdb/sql.ts'
import type { Table } from './tables.ts'

/**
 * Tables whose texts are all of closed sets. As ENUM they are sorted in a third of the time and of the room; the
 * files say text again, so that they have least and greatest values.
 */
const CLOSED_TEXTS: ReadonlySet<string> = new Set(['financials', 'employees'])

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

interface SortRequest {
  readonly session: Session
  readonly table: Table
  /** SQL of the rows. */
  readonly rows: string
  /** SQL of rows that have all the texts of these, and is cheaper where there is such. */
  readonly texts: string
  /** SQL of rows that stand in their order, and before all of these. @default none */
  readonly before?: string | undefined
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

/** Its file goes away next: that a full disk kept it from being brought up to date is nothing to stop for. */
const close = async (attached: AttachedDatabase | undefined): Promise<void> => {
  try {
    await attached?.drop()
  } catch (error) {
    if (!/CHECKPOINT during DETACH failed/.test(messageOf(error))) throw error
  }
}

const enumName = (column: string): string => `compact_${column}`

/** Makes an ENUM type of each closed text; its values are in the order of the texts. @returns the columns */
const makeEnums = async ({
  session,
  table,
  texts: ofRows,
  before,
}: SortRequest): Promise<ReadonlySet<string>> => {
  if (!CLOSED_TEXTS.has(table.name)) return new Set()
  const all = before === undefined ? ofRows : `FROM (${ofRows}) UNION ALL FROM (${before})`
  const texts = table.columns.filter(({ type }) => type === 'VARCHAR').map(({ name }) => name)
  for (const name of texts) {
    const distinct = `SELECT DISTINCT ${ident(name)} AS value FROM (${all}) WHERE value IS NOT NULL`
    const rows = await session.rows(`${distinct} ORDER BY value LIMIT ${MOST_VALUES + 1}`)
    await session.setEnum(
      enumName(name),
      rows.map(({ value }) => String(value)),
    )
  }
  return new Set(texts)
}

/** Rows of a sorted table to be written: of one with many columns in row groups that are small enough to be held. */
const toBeWritten = (session: Session, rows: TableRows, groupRows: number | undefined): TableRows => ({
  ...rows,
  copyTo: async (path, format) => {
    const grouped = format.kind === 'parquet' && groupRows !== undefined
    const receipt = await rows.copyTo(path, grouped ? { ...format, rowGroupRows: groupRows } : format)
    await session.releaseMemory()
    return receipt
  },
})

/**
 * Sorts rows of a table. The session keeps the order of rows (`keepOrder`).
 *
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `MEMORY_FULL`
 */
export const sortRows = async (request: SortRequest): Promise<SortedRows> => {
  const { session, table, rows: unsorted, before, path } = request
  const enums = await makeEnums(request)
  const taken = table.columns.map(({ name }) =>
    enums.has(name) ? `CAST(${ident(name)} AS ${ident(enumName(name))}) AS ${ident(name)}` : ident(name),
  )
  const given = table.columns.map(({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`)
  const groupRows = rowGroupRows(table.columns)
  // A thread that writes a file holds as many rows as a group of this database has.
  const groups = groupRows === undefined ? [] : [`ROW_GROUP_SIZE ${groupRows}`]
  let attached: AttachedDatabase | undefined
  try {
    await session.releaseMemory()
    attached = await attachDatabase(session, path, SORTED, groups)
    const columns = `SELECT ${taken.join(', ')} FROM`
    const sorted = `${columns} (${unsorted})
ORDER BY ${compactOrder(table).map(ident).join(', ')}`
    // One statement: a second one would write its rows into DuckDB's log first, which takes room on the disk.
    await session.run(`CREATE TABLE ${SORTED}.sorted AS
${before === undefined ? sorted : `${columns} (${before}) UNION ALL FROM (${sorted})`}`)
    await session.releaseMemory()
  } catch (error) {
    await attached?.drop().catch(() => undefined)
    const action = `Cannot sort table "${table.name}"`
    throw memoryError(action, error) ?? diskError(action, error)
  }
  const [counted] = await session.rows(`SELECT count(*) AS rows FROM ${SORTED}.sorted`)
  const rows = Number(counted?.rows)
  const select = (from: number, until: number): string =>
    `SELECT ${given.join(', ')} FROM ${SORTED}.sorted WHERE rowid >= ${from} AND rowid < ${until}`
  return {
    rows,
    slice: (from, until) => toBeWritten(session, session.relation(select(from, until)), groupRows),
    find: async (condition, from) => {
      let [low, high] = [from, rows]
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const [found] = await session.rows(
          `SELECT ${condition} AS behind FROM (${select(middle, middle + 1)})`,
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

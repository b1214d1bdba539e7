/**
 * Common parts of the sinks that load a database: the order of tables, which rows a run supersedes, comments.
 * The SQL is such that DuckDB and PostgreSQL both take it.
 *
 * Of a record that several partitions of a run hold, the rows of the last one are loaded. A database that has rows of
 * the record already loses them, in all tables of the record's content: what a later one leaves out is gone.
 */

import { posix } from 'node:path'
import type { FileEntry } from '../core/partition.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { columnComment } from '../lake/tables/columns.ts'
import { LISTINGS, SINK_TABLES, type Table, tableComment } from '../lake/tables/tables.ts'

/** The table that lists what a database has loaded: `run`, `loaded_at`, `partitions`, `taken`. */
export const LOADS_TABLE = 'firmlake_loads'
/** Comment of its column `taken`. */
export const ABOUT_TAKEN =
  'What the rows lack of what came, and what was computed for them; NULL where neither.'

/** The column of staged rows that has the place of their partition. */
export const PLACE = 'firmlake_place'

/** A staged file of a table. `place` is that of its partition among those of the run, in their order. */
export interface StagedPart {
  readonly file: FileEntry
  readonly place: number
}

export interface StagedTable {
  readonly name: string
  readonly parts: readonly StagedPart[]
}

/** `financials/load=<run>/<partition>.parquet` → `<partition>`. */
const partitionOf = ({ path }: FileEntry): string => posix.basename(path, posix.extname(path))

/** How many partitions the files of a commit are of. */
export const countPartitions = (files: readonly FileEntry[]): number => new Set(files.map(partitionOf)).size

const placeOf = (name: string): number => {
  const at = SINK_TABLES.findIndex((table) => table.name === name)
  return at < 0 ? SINK_TABLES.length : at
}

/** The files of a commit by table, in the order of the declared tables, others behind them by name. */
export const stagedTables = (files: readonly FileEntry[]): readonly StagedTable[] => {
  const places = new Map<string, number>()
  for (const file of files) {
    const partition = partitionOf(file)
    if (!places.has(partition)) places.set(partition, places.size)
  }
  const tables = new Map<string, StagedPart[]>()
  for (const file of files) {
    const part = { file, place: places.get(partitionOf(file)) ?? 0 }
    const parts = tables.get(file.table)
    if (parts) parts.push(part)
    else tables.set(file.table, [part])
  }
  return [...tables]
    .map(([name, parts]) => ({ name, parts }))
    .sort((a, b) => placeOf(a.name) - placeOf(b.name) || (a.name < b.name ? -1 : 1))
}

/**
 * The declared table of a name, where rows with these columns have its key. Others (the answer of a query) have no
 * key: nothing is known to be superseded by them.
 */
export const keyedTable = (name: string, columns: readonly string[]): Table | undefined => {
  const table = SINK_TABLES.find((one) => one.name === name)
  return table?.key.every((column) => columns.includes(column)) ? table : undefined
}

/** A content of records that a commit loads rows of. */
export interface IncomingContent {
  readonly content: string
  /**
   * Staged tables that show which records are loaded: the one with a row a record, where it is staged; and the one of
   * companies that are not listed any more, which lose all their rows.
   */
  readonly recordTables: readonly Table[]
  /** Tables that lose the rows which these records have there. */
  readonly affectedTables: readonly Table[]
}

/**
 * The records that staged tables load, by content. A commit without the table that has a row a record (an export of
 * figures alone) says nothing of the content's other tables: they keep what they have.
 */
export const incomingContents = (staged: readonly Table[]): readonly IncomingContent[] => {
  const contents = new Set(staged.flatMap(({ content }) => content ?? []))
  return [...contents].map((content) => {
    const present = staged.filter((table) => table.content === content)
    const recordTables = present.filter(({ name }) => name === content || name === LISTINGS.name)
    return recordTables.length > 0
      ? { content, recordTables, affectedTables: SINK_TABLES.filter((table) => table.content === content) }
      : { content, recordTables: present, affectedTables: present }
  })
}

/**
 * The last place of each record loaded: `owner`, and the place.
 *
 * @param rowsOf a table's staged rows, with their place, as an item of FROM
 */
export const lastPlaces = ({ recordTables }: IncomingContent, rowsOf: (table: Table) => string): string => {
  const brought = recordTables.map(
    (table) => `SELECT ${ident(table.owner ?? '')} AS owner, ${PLACE} FROM ${rowsOf(table)} AS r`,
  )
  return `SELECT owner, max(${PLACE}) AS ${PLACE} FROM (${brought.join(' UNION ALL ')}) AS b GROUP BY owner`
}

/** Removes the rows of the records loaded. @param newest name of a table made from `lastPlaces` */
export const deleteSuperseded = (table: Table, target: string, newest: string): string =>
  `DELETE FROM ${target} WHERE ${ident(table.owner ?? '')} IN (SELECT owner FROM ${newest})`

/** The current rows, of those staged. @param columns of the staged rows, without their place */
export const selectNewest = (
  table: Table,
  columns: readonly string[],
  rows: string,
  newest: string,
): string =>
  `SELECT ${columns.map((name) => `r.${ident(name)}`).join(', ')} FROM ${rows} AS r
JOIN ${newest} AS n ON n.owner = r.${ident(table.owner ?? '')} AND n.${PLACE} = r.${PLACE}`

/** Removes the rows of a table without records (a dictionary) whose keys are loaded. */
export const deleteKeys = ({ key }: Table, target: string, rows: string): string => {
  const names = key.map(ident).join(', ')
  return `DELETE FROM ${target} WHERE (${names}) IN (SELECT ${names} FROM ${rows} AS r)`
}

/** Selects one row a key, the last one, of a table without records. */
export const selectKeys = ({ key }: Table, columns: readonly string[], rows: string): string => {
  const names = key.map(ident).join(', ')
  return `SELECT DISTINCT ON (${names}) ${columns.map(ident).join(', ')} FROM ${rows} AS r
ORDER BY ${names}, ${PLACE} DESC`
}

/** `COMMENT ON` for a table and those of its columns that are there. */
export const commentStatements = (
  table: Table,
  target: string,
  present: readonly string[],
): readonly string[] => [
  `COMMENT ON TABLE ${target} IS ${literal(tableComment(table))}`,
  ...table.columns
    .filter(({ name }) => present.includes(name))
    .map(
      (column) => `COMMENT ON COLUMN ${target}.${ident(column.name)} IS ${literal(columnComment(column))}`,
    ),
]

/**
 * Files of one table, brought to where DuckDB reads them and checked: they are what the manifest says, this release knows all columns,
 * and one dictionary fits all.
 */

import { ToolkitError } from '../core/errors.ts'
import type { FileEntry, Snapshot } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { type ColumnTypeTree, ident, parseColumnType, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { withFiles } from '../lake/files/fetch-tables.ts'
import { fieldId } from '../lake/tables/field-ids.ts'
import { FIRST_VERSION, pastOf, withFirstVersion } from '../lake/tables/past-tables.ts'
import type { Table } from '../lake/tables/tables.ts'
import { readTable } from '../lake/views/current-versions.ts'
import { heldRows } from '../lake/views/intervals.ts'
import type { FileFacts } from '../storage/storage.ts'
import type { Work } from './compact-work.ts'

/** A file of a table, and the version of its rows. */
export interface VersionedEntry extends FileEntry {
  readonly version: number
}

/** The files of a table in the order of their versions. */
export const inputsOf = (
  { partitions, files }: Pick<Snapshot, 'partitions' | 'files'>,
  { name }: Pick<Table, 'name'>,
): readonly VersionedEntry[] => [
  ...partitions.flatMap(({ version, files: own }) =>
    own.filter(({ table }) => table === name).map((file) => ({ ...file, version })),
  ),
  ...files.filter(({ table }) => table === name),
]

/** The same with the files of past rows. */
export const allInputsOf = (snapshot: Pick<Snapshot, 'partitions' | 'files'>, table: Table) => [
  ...inputsOf(snapshot, table),
  ...inputsOf(snapshot, pastOf(table)),
]

/** Rows of some files. */
export interface GroupRows {
  /** Paths of the files. */
  readonly paths: readonly string[]
  /** SQL of the rows, past ones too. */
  readonly rows: string
  /** With their `version`, without past ones. */
  readonly versioned: string
  /** SQL of the rows with what their files say of the versions that had them, as `heldRows`. */
  readonly held: string
}

/** `table`: of another name where it holds past rows; absent of pieces that the compaction has written itself. */
export type InputFile = FileFacts & { readonly version: number; readonly table?: string }

export const readGroup = <T>(
  work: Work,
  table: Table,
  files: readonly InputFile[],
  use: (rows: GroupRows) => Promise<T>,
): Promise<T> => {
  const { session, lake, copies, known, signal, onFetched } = work
  const options = { known, signal, onProgress: onFetched() }
  const past = pastOf(table)
  return withFiles(lake, files, copies, options, async (placeOf) => {
    const placed = files.map((file) => ({ ...file, path: placeOf(file.path) }))
    const [own, ofPast] = [
      placed.filter((file) => file.table !== past.name),
      placed.filter((file) => file.table === past.name),
    ]
    const columns = await checkColumns(session, lake, table, own)
    const hasFirst = columns.has(FIRST_VERSION.name)
    const current = readTable(
      hasFirst ? withFirstVersion(table) : table,
      own,
      'with-version',
      undefined,
      columns,
    )
    const pastRows =
      ofPast.length === 0
        ? undefined
        : readTable(
            past,
            ofPast,
            'with-partition',
            undefined,
            await checkColumns(session, lake, past, ofPast),
          )
    const rows = readTable(table, own, undefined, undefined, columns)
    const names = table.columns.map(({ name }) => ident(name)).join(', ')
    return use({
      paths: placed.map(({ path }) => path),
      rows: pastRows === undefined ? rows : `${rows}\nUNION ALL\nSELECT ${names} FROM (${pastRows})`,
      versioned: readTable(table, own, 'with-version', undefined, columns),
      held: heldRows(table, current, hasFirst, pastRows),
    })
  })
}

/**
 * The figures of a run are scaled as its own dictionary says; after the compaction there is one for all.
 *
 * @param rows SQL of the rows of all dictionaries
 * @throws {ToolkitError} `COMPACT_IMPOSSIBLE`
 */
export const checkDictionaries = async (session: Session, lake: string, rows: string): Promise<void> => {
  const [differing] = await session.rows(
    `SELECT category, line_item FROM (${rows})
GROUP BY category, line_item HAVING count(DISTINCT scaled) > 1 LIMIT 1`,
  )
  if (differing === undefined) return
  throw new ToolkitError(
    'COMPACT_IMPOSSIBLE',
    `Cannot compact lake "${lake}": its runs disagree on whether figures of ` +
      `"${String(differing.category)}.${String(differing.line_item)}" are scaled, expected one answer`,
    { lake },
  )
}

/** A column and all that is within it, as field ids have them. */
const pathsOf = (path: string, type: ColumnTypeTree): readonly string[] => {
  const inner = type.kind === 'list' ? [{ name: 'element', type: type.element }] : []
  const parts = type.kind === 'struct' ? type.fields : inner
  return [path, ...parts.flatMap((part) => pathsOf(`${path}.${part.name}`, part.type))]
}

/**
 * The files that are written have the columns of this release: what a later one has loaded in others would be lost.
 *
 * @param files of one table
 * @returns the names of their columns
 * @throws {ToolkitError} `COMPACT_IMPOSSIBLE`
 */
export const checkColumns = async (
  session: Session,
  lake: string,
  { name: table }: Pick<Table, 'name'>,
  files: readonly { readonly path: string }[],
): Promise<ReadonlySet<string>> => {
  if (files.length === 0) return new Set()
  const columns = await session.describe(
    `SELECT * FROM ${readParquet(pathsSql(files.map(({ path }) => path)), 'union_by_name = true')}`,
  )
  const unknown = columns
    .flatMap(({ name, type }) => pathsOf(name, parseColumnType(type)))
    .find((path) => fieldId(table, path) === undefined)
  if (unknown === undefined) return new Set(columns.map(({ name }) => name))
  throw new ToolkitError(
    'COMPACT_IMPOSSIBLE',
    `Cannot compact lake "${lake}": this release does not know column "${unknown}" of table "${table}", ` +
      'expected the release that loaded it, or a later one',
    { lake, table },
  )
}

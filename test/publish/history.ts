/** What a published table has to show: the rows of a snapshot's files by DuckDB, with the columns that publishing adds. */

import type { Commit, Snapshot } from '../../src/core/partition.ts'
import { ident, literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES, type Table } from '../../src/lake/tables/tables.ts'
import { filesOf, readTable } from '../../src/lake/views/current-versions.ts'

/** A table's own columns with their types. */
export const ownColumns = ({ columns }: Table): string =>
  columns.map(({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`).join(', ')

/** The columns that publishing adds to those of a table, in SQL of one form whatever a reader makes of them. */
export const ADDED_COLUMNS = [
  'load',
  'version',
  'snapshot::INTEGER AS snapshot',
  'run',
  'loaded_at::TIMESTAMPTZ AS loaded_at',
] as const

const commitColumns = ({ snapshot, time }: Commit): string =>
  `${snapshot} AS snapshot, ${literal(time)}::TIMESTAMPTZ AS loaded_at`

/** All versions of a table with what publishing adds, from the files that a snapshot lists. */
export const historyOf = (snapshot: Snapshot, lake: string, table: Table): string =>
  `SELECT ${[ownColumns(table), ...ADDED_COLUMNS].join(', ')} FROM (${rowsOf(snapshot, lake, table)})`

const rowsOf = (snapshot: Snapshot, lake: string, table: Table): string => {
  const files = filesOf(snapshot, lake, table.name)
  if (files.length === 0)
    return `SELECT *, '' AS load, '' AS run, NULL::INTEGER AS snapshot, NULL::TIMESTAMPTZ AS loaded_at FROM (${readTable(table, files, 'with-version')})`
  const commits = new Map(
    [...snapshot.partitions, ...snapshot.files].map(({ version, committed }) => [version, committed]),
  )
  return files
    .map((file) => {
      const load = literal(/load=([^/]+)/.exec(file.path)?.[1] ?? '')
      const committed = commits.get(file.version) ?? { snapshot: 0, time: '' }
      return `SELECT ${ownColumns(table)}, ${load} AS load, ${load} AS run, ${commitColumns(committed)}, version
FROM (${readTable(table, [file], 'with-version')})`
    })
    .join('\nUNION ALL ')
}

/** The current rows of a table. */
export const currentRowsOf = (snapshot: Snapshot, lake: string, table: Table): string => {
  const main = TABLES.find(({ name }) => name === table.content) ?? table
  const owners = readTable(main, filesOf(snapshot, lake, main.name), 'with-version')
  const rows = readTable(table, filesOf(snapshot, lake, table.name), 'with-version')
  return `SELECT ${ownColumns(table)} FROM (${rows}) AS r WHERE version =
  (SELECT max(version) FROM (${owners}) AS o WHERE o.internal_id = r.${ident(table.owner ?? '')})`
}

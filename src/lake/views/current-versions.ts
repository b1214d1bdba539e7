/**
 * The rows of a lake's files, and which of them are current. Rows are versions: of a record that several partitions hold, the
 * last one in their order counts.
 */

import type { Content } from '../../contract/objects.ts'
import type { FileEntry, PartitionEntry, Snapshot, VersionFile } from '../../core/partition.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { ident, literal, NO_FOLDER_COLUMNS, pathSql, readParquet } from '../duckdb/sql.ts'
import type { PlaceOf } from '../files/fetch-tables.ts'
import { inLake, partPath } from '../files/layout.ts'
import { LISTINGS, QUARANTINE, type RecordTable, type Table } from '../tables/tables.ts'
import { dictionaryOrder, ofLastVersion } from './version-order.ts'

/** The part of a snapshot that lists files. */
export interface Listed extends Pick<Snapshot, 'partitions' | 'files' | 'merged' | 'versions'> {
  /** Whether companies that are not listed any more are shown. @default false */
  readonly showsGone?: boolean | undefined
}

/** A file of a table and the version of its rows. */
export interface VersionedFile {
  readonly path: string
  readonly bytes: number
  readonly version: number
  readonly partition: PartitionEntry | undefined
  /** As of which its rows are, where that is asked for. */
  readonly asOf?: string | undefined
  /** The place of its first row among those of all files of the table. */
  readonly place?: number
}

/** Files of the quarantine that partitions have kept whose rows a compaction has merged. They have no version. */
const mergedFiles = ({ merged = [] }: Pick<Snapshot, 'merged'>, placeOf: PlaceOf): readonly VersionedFile[] =>
  merged.flatMap((partition) =>
    partition.files.map(({ path, bytes }) => ({ path: placeOf(path), bytes, version: 0, partition })),
  )

const placeIn = (at: string | PlaceOf): PlaceOf => (typeof at === 'string' ? (path) => inLake(at, path) : at)

/**
 * The files of a table in the order of their versions.
 *
 * @param at the lake, whose files stand on this machine; or where DuckDB finds each
 */
export const filesOf = (
  snapshot: Pick<Snapshot, 'partitions' | 'files' | 'merged'>,
  at: string | PlaceOf,
  table: string,
): readonly VersionedFile[] => {
  const placeOf = placeIn(at)
  let rowsBefore = 0
  const placed = ({ path, bytes, rows }: FileEntry) => {
    rowsBefore += rows
    return { path: placeOf(path), bytes, place: rowsBefore - rows }
  }
  const own = (files: readonly FileEntry[]) => files.filter((file) => file.table === table)
  return [
    ...(table === QUARANTINE.name ? mergedFiles(snapshot, placeOf) : []),
    ...snapshot.partitions.flatMap((partition) =>
      own(partition.files).map((file) => ({ ...placed(file), version: partition.version, partition })),
    ),
    ...snapshot.files
      .filter((file) => file.table === table)
      .map((file) => ({ ...placed(file), version: file.version, partition: undefined })),
  ]
}

/** Paths as a list in SQL. @param sqlOf one of them */
export const pathList = (
  files: readonly { readonly path: string }[],
  sqlOf: (path: string) => string = pathSql,
): string => `[${files.map(({ path }) => sqlOf(path)).join(', ')}]`

const EMPTY_COLUMNS: Readonly<Record<string, string>> = {
  'with-as-of': ', NULL::TIMESTAMPTZ AS as_of',
  'with-place': ', 0 AS place',
}

/** The column of the number of a partition in rows that have a `version` of their own. */
export const MERGED_IN = 'merged_in'

/**
 * Rows of a table's files with the columns as declared; and `version` when asked for, `as_of` or `place` among all rows of the
 * files too. Rows of `pastOf` a table have a `version` of their own: the number of their partition is `merged_in`.
 *
 * @param listSql the list of their paths in SQL
 * @param present columns of which at least one of the files has each; the others are NULL. @default all
 */
export const readTable = (
  table: Table,
  files: readonly Pick<VersionedFile, 'path' | 'version' | 'place' | 'asOf'>[],
  extra?: 'with-version' | 'with-place' | 'with-as-of' | 'with-partition',
  listSql: string = pathList(files),
  present?: ReadonlySet<string>,
): string => {
  const columns = table.columns.map(({ name, type }) =>
    files.length === 0 || present?.has(name) === false
      ? `NULL::${type} AS ${ident(name)}`
      : `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`,
  )
  const number = extra === 'with-partition' ? MERGED_IN : 'version'
  if (files.length === 0) {
    const [version, more] = [extra ? `, 0 AS ${number}` : '', (extra && EMPTY_COLUMNS[extra]) ?? '']
    return `SELECT ${columns.join(', ')}${version}${more} WHERE false`
  }
  const instants =
    extra === 'with-as-of'
      ? `, ${ofFile(files.map(({ asOf = '' }) => `TIMESTAMPTZ ${literal(asOf)}`))} AS as_of`
      : ''
  const versions = extra ? `, ${ofFile(files.map((file) => file.version))} AS ${number}${instants}` : ''
  if (extra !== 'with-place')
    return `SELECT ${columns.join(', ')}${versions}\nFROM ${readParquet(listSql, 'union_by_name = true')}`
  return `SELECT ${columns.join(', ')}${versions},
  ${ofFile(files.map(({ place = 0 }) => place))} + file_row_number AS place
FROM ${readParquet(listSql, 'union_by_name = true', 'file_row_number = true')}`
}

/** A value from a list, each of a file: DuckDB numbers the files of a scan in the order of the list. */
export const ofFile = (values: readonly (number | string)[]): string =>
  `[${values.join(',')}][file_index::BIGINT + 1]`

/** Schema in which sessions keep what is not the reader's: out of sight of `SHOW TABLES`. */
export const HIDDEN_SCHEMA = 'firmlake'

/** The files that say which companies are not listed any more; of relations there are none. */
export const goneFiles = (
  snapshot: Pick<Snapshot, 'partitions' | 'files' | 'merged'>,
  at: string | PlaceOf,
  content: Content | undefined,
): readonly VersionedFile[] => (content === LISTINGS.content ? filesOf(snapshot, at, LISTINGS.name) : [])

/** Columns that identify a record in the rows of a table: its owner, of a dictionary the key. */
export const recordKey = ({ owner, key }: Table): readonly string[] => (owner === undefined ? key : [owner])

/** The files that list versions of the records of a main table. */
export const versionFilesOf = (
  { versions }: Pick<Snapshot, 'versions'>,
  kind: VersionFile['kind'],
  { name }: Pick<Table, 'name'>,
): readonly VersionFile[] => versions.filter((file) => file.kind === kind && file.table === name)

/** The same as files of the lake. */
export const versionFacts = (files: readonly VersionFile[]): readonly FileFacts[] =>
  files.map(({ name, bytes, sha256 }) => ({ path: partPath(name), bytes, sha256 }))

/**
 * The table that lists the versions that are not shown: `owner`, `version`, `as_of` of superseded rows, and whether a company is
 * not listed any more (`is_gone`), of its last ones.
 */
export const supersededTable = (content: Content): string => `${HIDDEN_SCHEMA}.superseded_${content}`

/** A snapshot that also shows the companies that are not listed any more. */
export const withAllCompanies = <Some extends Listed>(snapshot: Some): Some => ({
  ...snapshot,
  showsGone: true,
})

/** Whether no record of a content has several versions, and none is gone. */
export const isOneVersion = (listed: Pick<Snapshot, 'versions'>, table: Table): boolean =>
  versionFilesOf(listed, 'superseded', table).length === 0

/**
 * `owner`, `version`, `as_of` and `is_gone` of the versions that are not shown.
 *
 * @param listSql the list of the paths of their files in SQL
 */
export const supersededRows = (
  { content, owner = '' }: Table,
  { showsGone = false }: Pick<Listed, 'showsGone'>,
  listSql: string,
): string => {
  const rows = `SELECT ${ident(owner)} AS owner, version, as_of, next, is_gone, is_listing FROM ${readParquet(listSql)}`
  if (content !== LISTINGS.content) return `SELECT owner, version, as_of, is_gone FROM (${rows})`
  // A company is gone where a listing without it is superseded by nothing; its last record is that of the others.
  return `WITH listed AS (${rows}), gone AS (
  SELECT DISTINCT l.owner FROM listed AS l ANTI JOIN listed AS n ON n.owner = l.owner AND n.version = l.next WHERE l.is_gone
), leaving AS (
  SELECT owner, ${ofLastVersion('version')} AS version FROM listed SEMI JOIN gone USING (owner) WHERE NOT is_listing GROUP BY owner
)
SELECT s.owner, s.version, s.as_of, l.version IS NOT NULL AS is_gone FROM listed AS s
LEFT JOIN leaving AS l ON l.owner = s.owner AND l.version = s.version${showsGone ? '\nWHERE l.version IS NULL' : ''}`
}

/** The versions of a content that are not shown, as `supersededRows`. */
export const oldVersions = (
  listed: Pick<Listed, 'versions' | 'showsGone'>,
  at: string | PlaceOf,
  table: Table,
): string => {
  const files = versionFacts(versionFilesOf(listed, 'superseded', table))
  if (files.length === 0)
    return 'SELECT NULL::BIGINT AS owner, NULL::BIGINT AS version, NULL::TIMESTAMPTZ AS as_of, false AS is_gone LIMIT 0'
  return supersededRows(
    table,
    listed,
    pathList(files, (path) => pathSql(placeIn(at)(path))),
  )
}

/** Makes the table of superseded versions of a content in a session whose hidden schema is there; again after an interrupted try. */
export const makeSuperseded = (listed: Listed, at: string | PlaceOf, table: RecordTable): string =>
  `CREATE OR REPLACE TABLE ${supersededTable(table.content)} AS ${oldVersions(listed, at, table)}`

/** The versions that have superseded records of a content, and how many: those of all others are current. */
export const supersededVersions = (content: Content): string =>
  `SELECT version::INTEGER AS version, count(*)::INTEGER AS records FROM ${supersededTable(content)} GROUP BY ALL`

/**
 * The versions that hold the current records of some ids.
 *
 * @param listed paths of the files that list last and superseded versions, in SQL
 */
export const versionsHolding = (
  { content, owner = '' }: RecordTable,
  listed: string,
  ids: readonly bigint[],
): string =>
  `SELECT DISTINCT h.version::INTEGER AS version
FROM (SELECT ${ident(owner)} AS owner, version FROM ${readParquet(listed, 'union_by_name = true')}) AS h
ANTI JOIN ${supersededTable(content)} AS s ON s.owner = h.owner AND s.version = h.version
WHERE h.owner IN (${ids.join(', ')})`

/**
 * The versions that hold any row of some ids, also of superseded ones.
 *
 * @param listed paths of the files that list last and superseded versions, in SQL
 */
export const versionsWith = ({ owner = '' }: RecordTable, listed: string, ids: readonly number[]): string =>
  `SELECT DISTINCT version::INTEGER AS version FROM ${readParquet(listed, 'union_by_name = true')}
WHERE ${ident(owner)} IN (${ids.join(', ')})`

/** The current rows of one version: fewer columns to look at than rows of all. @param rows of that version's files */
export const currentOfVersion = (
  { owner = '' }: Table,
  rows: string,
  { content, version }: { readonly content: Content; readonly version: number },
): string => `SELECT h.* FROM (${rows}) AS h
ANTI JOIN (SELECT owner FROM ${supersededTable(content)} WHERE version = ${version}) AS s ON s.owner = h.${ident(owner)}`

/** The current rows of a table. @param versioned its rows with their `version` */
export const currentRows = (table: Table, versioned: string): string =>
  table.content === undefined || table.owner === undefined
    ? `SELECT * EXCLUDE (version) FROM (${versioned})
QUALIFY row_number() OVER (PARTITION BY ${table.key.map(ident).join(', ')} ORDER BY ${dictionaryOrder()}) = 1`
    : `SELECT h.* EXCLUDE (version) FROM (${versioned}) AS h
ANTI JOIN ${supersededTable(table.content)} AS s ON s.owner = h.${ident(table.owner)} AND s.version = h.version`

/** Largest quarantined line with its escapes that can be read, in bytes: six for each of 16 MiB and some more. */
const LARGEST_LINE_BYTES = 128 * 1024 * 1024
const MIN_LINE_BYTES = 1024 * 1024

interface LinesFile {
  readonly path: string
  /** Length of the file: no line of it is longer, and DuckDB's buffers are twice the longest line. */
  readonly bytes: number
}

/**
 * Rows of the given files, with the partition each belongs to.
 *
 * @param listSql the list of their paths in SQL
 */
export const readQuarantine = (files: readonly LinesFile[], listSql: string = pathList(files)): string => {
  const columns = QUARANTINE.columns
  if (files.length === 0) {
    const none = columns.map(({ name, type }) => `NULL::${type} AS ${ident(name)}`)
    return `SELECT NULL::VARCHAR AS partition, ${none.join(', ')} WHERE false`
  }
  const largest = Math.max(MIN_LINE_BYTES, ...files.map(({ bytes }) => bytes))
  const types = columns.map(({ name, type }) => `${ident(name)}: ${literal(type)}`)
  return `SELECT regexp_extract(filename, '([^/\\\\]+)\\.jsonl$', 1) AS partition, ${columns.map(({ name }) => ident(name)).join(', ')}
FROM read_ndjson(${listSql}, ${NO_FOLDER_COLUMNS}, columns = {${types.join(', ')}}, auto_detect = false,
  records = true, filename = true, maximum_object_size = ${Math.min(LARGEST_LINE_BYTES, largest)})`
}

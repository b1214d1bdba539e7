/**
 * The rows of a lake's files, and which of them are current. Rows are versions: of a record that several partitions hold, the
 * one that was committed last counts.
 */

import type { Content } from '../../contract/objects.ts'
import type { PartitionEntry, Snapshot } from '../../core/partition.ts'
import { ident, literal } from '../duckdb/sql.ts'
import type { PlaceOf } from '../files/fetch-tables.ts'
import { inLake } from '../files/layout.ts'
import { LISTINGS, QUARANTINE, type RecordTable, type Table } from '../tables/tables.ts'

/** A file of a table and the version of its rows. */
export interface VersionedFile {
  readonly path: string
  readonly bytes: number
  readonly version: number
  readonly partition: PartitionEntry | undefined
}

/** Files of the quarantine that partitions have kept whose rows a compaction has merged. They have no version. */
const mergedFiles = ({ merged = [] }: Pick<Snapshot, 'merged'>, placeOf: PlaceOf): readonly VersionedFile[] =>
  merged.flatMap((partition) =>
    partition.files.map(({ path, bytes }) => ({ path: placeOf(path), bytes, version: 0, partition })),
  )

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
  const placeOf: PlaceOf = typeof at === 'string' ? (path) => inLake(at, path) : at
  return [
    ...(table === QUARANTINE.name ? mergedFiles(snapshot, placeOf) : []),
    ...snapshot.partitions.flatMap((partition) =>
      partition.files
        .filter((file) => file.table === table)
        .map(({ path, bytes }) => ({ path: placeOf(path), bytes, version: partition.version, partition })),
    ),
    ...snapshot.files
      .filter((file) => file.table === table)
      .map(({ path, bytes, version }) => ({ path: placeOf(path), bytes, version, partition: undefined })),
  ]
}

/** Paths as a list in SQL. @param pathSql one of them */
export const pathList = (
  files: readonly { readonly path: string }[],
  pathSql: (path: string) => string = literal,
): string => `[${files.map(({ path }) => pathSql(path)).join(', ')}]`

/**
 * Rows of a table's files with the columns as declared; and `version` when asked for.
 *
 * @param listSql the list of their paths in SQL
 * @param present columns of which at least one of the files has each; the others are NULL. @default all
 */
export const readTable = (
  table: Table,
  files: readonly Pick<VersionedFile, 'path' | 'version'>[],
  version?: 'with-version',
  listSql: string = pathList(files),
  present?: ReadonlySet<string>,
): string => {
  const columns = table.columns.map(({ name, type }) =>
    files.length === 0 || present?.has(name) === false
      ? `NULL::${type} AS ${ident(name)}`
      : `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`,
  )
  if (files.length === 0) return `SELECT ${columns.join(', ')}${version ? ', 0 AS version' : ''} WHERE false`
  // DuckDB numbers the files of a scan in the order of the list.
  const number = `[${files.map((file) => file.version).join(',')}][file_index::BIGINT + 1]`
  return `SELECT ${columns.join(', ')}${version ? `, ${number} AS version` : ''}
FROM read_parquet(${listSql}, union_by_name = true)`
}

/** Where sessions keep what is not the reader's: out of sight of `SHOW TABLES`. */
export const HIDDEN_SCHEMA = 'firmlake'

/** The files that say which companies are not listed any more; of relations there are none. */
export const goneFiles = (
  snapshot: Pick<Snapshot, 'partitions' | 'files' | 'merged'>,
  at: string | PlaceOf,
  content: Content | undefined,
): readonly VersionedFile[] => (content === LISTINGS.content ? filesOf(snapshot, at, LISTINGS.name) : [])

/**
 * The table that lists the versions that are not shown: `owner`, `version` of superseded rows, and, where companies are
 * not listed any more (`is_gone`), of their last ones.
 */
export const supersededTable = (content: Content): string => `${HIDDEN_SCHEMA}.superseded_${content}`

/** A snapshot that also shows the companies that are not listed any more. */
export const withAllCompanies = <Some extends Pick<Snapshot, 'partitions'>>(snapshot: Some): Some => ({
  ...snapshot,
  partitions: snapshot.partitions.map((partition) => ({
    ...partition,
    files: partition.files.filter(({ table }) => table !== LISTINGS.name),
  })),
})

/** Whether no record of a content can have several versions, by the files of its main table. */
export const isOneVersion = (files: readonly Pick<VersionedFile, 'version'>[]): boolean =>
  new Set(files.map(({ version }) => version)).size < 2

/** Makes the table of superseded versions of a content in a session whose hidden schema is there. */
export const makeSuperseded = (
  snapshot: Pick<Snapshot, 'partitions' | 'files' | 'merged'>,
  at: string | PlaceOf,
  table: RecordTable,
): string => {
  const files = filesOf(snapshot, at, table.name)
  const gone = goneFiles(snapshot, at, table.content)
  const owners = `SELECT internal_id AS owner, version FROM (${readTable(table, files, 'with-version')})`
  return gone.length === 0
    ? makeSupersededOf(table.content, owners, files)
    : makeHidden(table.content, owners, files, gone)
}

/** The same where companies are not listed any more: a listing behind all rows of a company hides these. */
const makeHidden = (
  content: Content,
  owners: string,
  files: readonly Pick<VersionedFile, 'version'>[],
  gone: readonly VersionedFile[],
): string => {
  const listings = `SELECT internal_id AS owner, version FROM (${readTable(LISTINGS, gone, 'with-version')})`
  // A single partition holds no record twice: only rows of what is named in a listing can be old.
  const rows = isOneVersion(files) ? `${owners} WHERE owner IN (SELECT owner FROM (${listings}))` : owners
  return `CREATE TABLE ${supersededTable(content)} AS
SELECT owner, version, version = last AS is_gone FROM (
  SELECT owner, version, is_row, max(version) OVER of_owner AS newest, max(version) FILTER (is_row) OVER of_owner AS last
  FROM (SELECT *, true AS is_row FROM (${rows}) UNION ALL SELECT *, false FROM (${listings}))
  WINDOW of_owner AS (PARTITION BY owner)
) WHERE is_row AND version < newest`
}

/**
 * The same by the owners themselves.
 *
 * @param owners SQL that gives `owner` and `version` of each record
 * @param files those of the content's main table
 */
export const makeSupersededOf = (
  content: Content,
  owners: string,
  files: readonly Pick<VersionedFile, 'version'>[],
): string => {
  // A single partition holds no record twice; after a compaction it has many files.
  const none = isOneVersion(files) ? ' LIMIT 0' : ''
  return `CREATE TABLE ${supersededTable(content)} AS
SELECT owner, version FROM (
  SELECT owner, version, max(version) OVER (PARTITION BY owner) AS newest FROM (${owners})
) WHERE version < newest${none}`
}

/** The versions that have superseded records of a content, and how many: those of all others are current. */
export const supersededVersions = (content: Content): string =>
  `SELECT version::INTEGER AS version, count(*)::INTEGER AS records FROM ${supersededTable(content)} GROUP BY ALL`

/**
 * The versions that hold the current records of some ids.
 *
 * @param versioned rows of the content's main table with their `version`
 */
export const versionsHolding = (content: Content, versioned: string, ids: readonly bigint[]): string =>
  `SELECT DISTINCT h.version::INTEGER AS version FROM (${versioned}) AS h
ANTI JOIN ${supersededTable(content)} AS s ON s.owner = h.internal_id AND s.version = h.version
WHERE h.internal_id IN (SELECT unnest([${ids.join(', ')}]::BIGINT[]))`

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
QUALIFY row_number() OVER (PARTITION BY ${table.key.map(ident).join(', ')} ORDER BY version DESC) = 1`
    : `SELECT h.* EXCLUDE (version) FROM (${versioned}) AS h
ANTI JOIN ${supersededTable(table.content)} AS s ON s.owner = h.${ident(table.owner)} AND s.version = h.version`

/** Largest quarantined line with its escapes that can be read, in bytes: six for each of 16 MiB and some more. */
const LARGEST_LINE_BYTES = 128 * 1024 * 1024
const LEAST_LINE_BYTES = 1024 * 1024

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
  const largest = Math.max(LEAST_LINE_BYTES, ...files.map(({ bytes }) => bytes))
  const types = columns.map(({ name, type }) => `${ident(name)}: ${literal(type)}`)
  return `SELECT regexp_extract(filename, '([^/\\\\]+)\\.jsonl$', 1) AS partition, ${columns.map(({ name }) => ident(name)).join(', ')}
FROM read_ndjson(${listSql}, columns = {${types.join(', ')}}, auto_detect = false,
  records = true, filename = true, maximum_object_size = ${Math.min(LARGEST_LINE_BYTES, largest)})`
}

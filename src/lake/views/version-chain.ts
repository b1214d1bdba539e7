/**
 * The chain of the versions of each record, in their order: which one follows, and when the lake showed it. A listing that lacks
 * a company is a version of it too. Of a compaction's rows the list of versions has the instant of each record.
 */

import type { PartitionEntry, VersionFile } from '../../core/partition.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { ident, readParquet } from '../duckdb/sql.ts'
import { hasOwnVersions, runsOfHistory, versionsTable } from '../tables/past-tables.ts'
import type { RecordTable, Table } from '../tables/tables.ts'
import { type Listed, ofFile, versionFacts, versionFilesOf } from './current-versions.ts'
import { lastVersionWith, versionOrder } from './version-order.ts'

/** Columns of the chain beside `owner` and `version`. */
export const CHAIN_COLUMNS = {
  as_of: 'TIMESTAMPTZ',
  until: 'BIGINT',
  until_as_of: 'TIMESTAMPTZ',
  shown_from: 'TIMESTAMPTZ',
  shown_until: 'TIMESTAMPTZ',
  known_since: 'TIMESTAMPTZ',
} as const

/** A version's place among the versions of its record, and what it is; only what makes histories reads them. */
export const PLACE_COLUMNS = { place: 'BIGINT', is_listing: 'BOOLEAN', merged_in: 'BIGINT' } as const

/**
 * The chain: `owner`, `version` and the columns above. Of a listing that a later one confirmed, the instants of both count.
 *
 * @param versions SQL of `owner`, `version`, `as_of`, `is_listing`, `merged_in` (the number of the compacted partition that has it, NULL
 *   where none has), and of its load `load_as_of` (NULL of a listing that stands for an earlier one), `loaded_at`
 */
export const chainOf = (versions: string): string => `WITH known AS (
  ${versions}
), places AS (
  SELECT * EXCLUDE (load_as_of) FROM known
  UNION ALL SELECT * EXCLUDE (load_as_of) REPLACE (load_as_of AS as_of) FROM known WHERE is_listing AND load_as_of < as_of
)
SELECT owner, version, as_of, lead(version) OVER along AS until, lead(as_of) OVER along AS until_as_of,
  min(loaded_at) OVER (PARTITION BY owner ORDER BY ${versionOrder()} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS shown_from,
  min(loaded_at) OVER (PARTITION BY owner ORDER BY ${versionOrder()} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS shown_until,
  greatest(loaded_at, lag(loaded_at) OVER along) AS known_since,
  row_number() OVER along AS place, is_listing, merged_in
FROM places WINDOW along AS (PARTITION BY owner ORDER BY ${versionOrder()})`

/** Whether records of a partition may have other instants than it says. */
export const hasSeveralInstants = ({ source, sources = [], asOf }: PartitionEntry): boolean =>
  isCompaction(source) || sources.some((one) => (one.asOf ?? asOf) !== asOf)

/** The lists that say what a chain is made of; none where each record has one version, of the instant of its partition. */
export const chainLists = (listed: Listed, table: Table): readonly VersionFile[] => {
  const superseded = versionFilesOf(listed, 'superseded', table)
  const isPlain =
    superseded.length === 0 &&
    !listed.partitions.some((one) => one.content === table.content && hasSeveralInstants(one))
  return isPlain
    ? []
    : [...superseded, ...versionFilesOf(listed, 'last', table), ...versionFilesOf(listed, 'confirmed', table)]
}

/** The files of a chain: its lists, and what compactions kept of versions. */
export const chainFacts = (listed: Listed, table: RecordTable): readonly FileFacts[] => [
  ...versionFacts(chainLists(listed, table)),
  ...mergedFiles(listed, table),
]

/** The files that say which versions compactions have put together. */
export const mergedFiles = ({ partitions }: Pick<Listed, 'partitions'>, { content }: RecordTable) =>
  partitions.flatMap(({ files, version }) =>
    files.flatMap((file) => (file.table === versionsTable(content).name ? [{ ...file, version }] : [])),
  )

interface StandIns {
  readonly records: ReadonlySet<number>
  readonly all: readonly number[]
}

/** The numbers of compactions that stand for versions that they have put together: of their records, and of all that they made. */
export const standInsOf = (
  { partitions }: Pick<Listed, 'partitions'>,
  { content }: Pick<RecordTable, 'content'>,
): StandIns | undefined => {
  const runs = runsOfHistory(partitions.filter((one) => one.content === content))
  if (runs.size === 0) return undefined
  const own = partitions.filter((one) => one.content === content && runs.has(one.run))
  return {
    records: new Set(own.filter(hasOwnVersions).map(({ version }) => version)),
    all: own.map(({ version }) => version),
  }
}

/** SQL of the paths of files that list versions, and of those that compactions kept, with the numbers of their partitions. */
interface ChainPaths extends Readonly<Record<VersionFile['kind'], string | undefined>> {
  readonly merged: { readonly paths: string; readonly versions: readonly number[] } | undefined
}

/** Limits of a chain to the versions of some partitions. */
interface ChainLimits {
  /** Numbers of compactions, whose own files say which versions they stand for. @default none */
  readonly standIns?: readonly number[] | undefined
  /** Lower versions are left out. @default none */
  readonly fromVersion?: number | undefined
}

/**
 * The versions of a content as its lists have them: those that others stand behind, the last one of each record, and listings that lacked
 * a company again; and those that a compaction has put together, in place of its own.
 *
 * @param loadOf SQL of the load of a version
 */
export const listedVersions = (
  { owner = '' }: Pick<Table, 'owner'>,
  { superseded, last, confirmed, merged }: ChainPaths,
  loadOf: string,
  { standIns = [], fromVersion = 0 }: ChainLimits = {},
): string => {
  const key = ident(owner)
  const conditions = [
    ...(standIns.length === 0 ? [] : [`version NOT IN (${standIns.join(', ')})`]),
    ...(fromVersion === 0 ? [] : [`version >= ${fromVersion}`]),
  ]
  const isReal = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const rows = [
    ...(superseded === undefined
      ? []
      : [
          `SELECT ${key} AS owner, version, as_of, is_listing, NULL::BIGINT AS merged_in FROM ${readParquet(superseded)}${isReal}`,
        ]),
    ...(last === undefined
      ? []
      : [
          `SELECT owner, last.version AS version, last.as_of, last.is_listing, NULL::BIGINT AS merged_in FROM (
    SELECT ${key} AS owner, ${lastVersionWith('is_listing')} AS last FROM ${readParquet(last)} GROUP BY owner)${isReal}`,
        ]),
    ...(merged === undefined
      ? []
      : [
          `SELECT internal_id AS owner, version, as_of, is_listing, ${ofFile(merged.versions)} AS merged_in FROM ${readParquet(merged.paths)}`,
        ]),
  ]
  const listed = `SELECT *, ${loadOf}(version).as_of AS load_as_of, ${loadOf}(version).loaded_at AS loaded_at
  FROM (${rows.join('\n  UNION ALL ')})`
  return confirmed === undefined
    ? listed
    : `${listed}
  UNION ALL SELECT ${key}, version, as_of, is_listing, NULL, NULL, ${loadOf}(version).loaded_at FROM ${readParquet(confirmed)}`
}

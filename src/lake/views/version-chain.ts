/**
 * The chain of the versions of each record, in their order: which one follows, and when the lake showed it. A listing that lacks
 * a company is a version of it too. Of a compaction's rows the list of versions has the instant of each record.
 */

import type { PartitionEntry, VersionFile } from '../../core/partition.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { ident, readParquet } from '../duckdb/sql.ts'
import type { Table } from '../tables/tables.ts'
import { type Listed, versionFacts, versionFilesOf } from './current-versions.ts'
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

/**
 * The chain: `owner`, `version` and the columns above. Of a listing that a later one confirmed, the instants of both count.
 *
 * @param versions SQL of `owner`, `version`, `as_of`, `is_listing`, and of its load `load_as_of`, `loaded_at`
 */
export const chainOf = (versions: string): string => `WITH known AS (
  ${versions}
), places AS (
  SELECT owner, version, as_of, loaded_at FROM known
  UNION ALL SELECT owner, version, load_as_of, loaded_at FROM known WHERE is_listing AND load_as_of < as_of
)
SELECT owner, version, as_of, lead(version) OVER along AS until, lead(as_of) OVER along AS until_as_of,
  min(loaded_at) OVER (PARTITION BY owner ORDER BY ${versionOrder()} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS shown_from,
  min(loaded_at) OVER (PARTITION BY owner ORDER BY ${versionOrder()} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS shown_until,
  greatest(loaded_at, lag(loaded_at) OVER along) AS known_since
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
  return isPlain ? [] : [...superseded, ...versionFilesOf(listed, 'last', table)]
}

export const chainFacts = (listed: Listed, table: Table): readonly FileFacts[] =>
  versionFacts(chainLists(listed, table))

/**
 * The versions of a content as its lists have them: those that others stand behind, and the last one of each record.
 *
 * @param list SQL of the paths of the lists of a kind
 * @param loadOf SQL of the load of a version
 */
export const listedVersions = (
  { owner = '' }: Pick<Table, 'owner'>,
  lists: Readonly<Record<VersionFile['kind'], string | undefined>>,
  loadOf: string,
): string => {
  const key = ident(owner)
  const rows = [
    ...(lists.superseded === undefined
      ? []
      : [`SELECT ${key} AS owner, version, as_of, is_listing FROM ${readParquet(lists.superseded)}`]),
    ...(lists.last === undefined
      ? []
      : [
          `SELECT owner, last.version, last.as_of, last.is_listing FROM (
    SELECT ${key} AS owner, ${lastVersionWith('is_listing')} AS last FROM ${readParquet(lists.last)} GROUP BY owner)`,
        ]),
  ]
  return `SELECT *, ${loadOf}(version).as_of AS load_as_of, ${loadOf}(version).loaded_at AS loaded_at
  FROM (${rows.join('\n  UNION ALL ')})`
}

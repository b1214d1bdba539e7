/**
 * Whether a run brings what the lake shows already: days of pulls overlap on purpose, so that what changed on the last of
 * them comes again. Compared are all values of all tables, not timestamps.
 */

import type { Content } from '../contract/objects.ts'
import type { PartitionEntry } from '../core/partition.ts'
import { isAskedAgain } from '../core/source-kinds.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { type Table, tablesOf } from '../lake/tables/tables.ts'
import { filesOf, readTable, type VersionedFile } from '../lake/views/current-versions.ts'
import { ofLastVersion } from '../lake/views/version-order.ts'
import { sourcesOf } from '../manifest/form/sources.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { storageOf } from '../storage/open-storage.ts'
import { readShown, shownRows } from './shown-rows.ts'
import { type StagedRun, stagedFiles, tableNamed } from './staged-files.ts'

/** Comparing more records than this would cost more than the rows that it saves. */
const MOST_RECORDS = 50_000

/** The last version of each record that came. */
const cameSql = (table: Table, files: readonly VersionedFile[]): string =>
  `SELECT ${ident(table.owner ?? '')} AS owner, ${ofLastVersion('version')} AS version
  FROM (${readTable(table, files, 'with-as-of')}) GROUP BY owner`

/** Rows of those records, each in its last version, as the table has them. */
const rowsSql = (table: Table, files: readonly VersionedFile[], owners: string): string => {
  const columns = table.columns.map(({ name }) => `t.${ident(name)}`).join(', ')
  return `SELECT ${columns} FROM (${readTable(table, files, 'with-version')}) AS t
  JOIN ${owners} AS o ON o.owner = t.${ident(table.owner ?? '')} AND o.version = t.version`
}

const countOf = async ({ loader }: StagedRun, sql: string): Promise<number> =>
  Number((await loader.rows(`SELECT count(*) AS n FROM (${sql})`))[0]?.n)

/** Whether the lake shows all records of a content with the same values. */
const isKnown = async (staged: StagedRun, root: SnapshotRoot, content: Content): Promise<boolean> => {
  const { lake } = staged
  const main = tableNamed(content)
  const tables = tablesOf(content)
  const names = tables.map(({ name }) => name)
  const snapshot = await readShown(lake, root, content, names)
  const came = cameSql(main, await stagedFiles(staged, main.name))
  const held = `SELECT ${ident(main.owner ?? '')} AS owner, version FROM (${shownRows(main, snapshot, lake)})
  WHERE owner IN (SELECT owner FROM came)`
  const owners = `WITH came AS MATERIALIZED (${came}), held AS MATERIALIZED (${held})`
  if ((await countOf(staged, `${owners} FROM came ANTI JOIN held USING (owner)`)) > 0) return false
  for (const table of tables) {
    const here = rowsSql(table, filesOf(snapshot, lake, table.name), 'held')
    const there = rowsSql(table, await stagedFiles(staged, table.name), 'came')
    const differing = `${owners}, here AS (${here}), there AS (${there})
(FROM here EXCEPT ALL FROM there) UNION ALL (FROM there EXCEPT ALL FROM here)`
    if ((await countOf(staged, differing)) > 0) return false
  }
  return true
}

/** A file that is not recorded as loaded would be read again each night; a search asks again by itself. */
const isOfSearch = (partition: PartitionEntry): boolean => sourcesOf(partition).every(isAskedAgain)

/**
 * Not found out of a lake in a bucket, whose files would have to be fetched for it, nor of many records: then it may.
 *
 * @param root the snapshot that the lake shows
 */
export const bringsNothing = async (staged: StagedRun, root: SnapshotRoot | null): Promise<boolean> => {
  const { lake, partitions } = staged
  const records = partitions.reduce((sum, { counts }) => sum + counts.records, 0)
  if (partitions.some(({ counts }) => counts.quarantined > 0)) return false
  if (records === 0 && partitions.every(({ counts }) => (counts.filtered ?? 0) === 0)) return true
  if (!partitions.every(isOfSearch)) return false
  if (root === null || records > MOST_RECORDS || storageOf(lake).isRemote) return false
  const contents = Map.groupBy(
    partitions.filter(({ counts }) => counts.records > 0),
    ({ content }) => content,
  )
  for (const [content, own] of contents)
    if (!(await isKnown({ ...staged, partitions: own }, root, content))) return false
  return true
}

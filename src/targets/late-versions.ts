/**
 * Versions of records that were superseded when they came: older data than the lake had by then. A target that gets run by run must
 * not get them, as they would take the place of newer rows there.
 */

import type { CommittedPartition, Snapshot } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { withFiles } from '../lake/files/fetch-tables.ts'
import { mainTables, type Table } from '../lake/tables/tables.ts'
import { recordKey, versionFacts, versionFilesOf } from '../lake/views/current-versions.ts'

const tableOf = (content: string): string => `late_${content}`

/** The last version of the run that each partition belongs to. */
const lastOfRuns = (partitions: readonly CommittedPartition[]): string => {
  const last = new Map<string, number>()
  // In the order of commits, so that the last one stays.
  for (const { run, version } of partitions) last.set(run, version)
  const rows = partitions.map(({ run, version }) => `(${version}, ${last.get(run)})`)
  return `(VALUES ${rows.length > 0 ? rows.join(', ') : '(0, 0)'}) AS r(version, last)`
}

/** The late versions of a snapshot, in a session. */
export interface LateVersions {
  /** Rows of a table without those of late versions. @param rows of one version, as a SELECT */
  readonly leftOut: (table: Table, version: number, rows: string) => string
}

/** @param scratch folder of this machine for copies of files of a bucket */
export const findLate = async (
  session: Session,
  lake: string,
  snapshot: Snapshot,
  scratch: string,
): Promise<LateVersions> => {
  const late = new Map<string, ReadonlySet<number>>()
  for (const table of mainTables()) {
    const lists = versionFacts(versionFilesOf(snapshot, 'superseded', table))
    if (lists.length === 0) continue
    const [key = ''] = recordKey(table)
    await withFiles(lake, lists, scratch, {}, (placeOf) =>
      session.run(`CREATE TEMP TABLE ${tableOf(table.content)} AS SELECT s.${ident(key)} AS owner, s.version
FROM ${readParquet(pathsSql(lists.map(({ path }) => placeOf(path))))} AS s
JOIN ${lastOfRuns(snapshot.partitions)} ON r.version = s.version AND s.next <= r.last`),
    )
    const found = await session.rows(
      `SELECT DISTINCT version::INTEGER AS version FROM ${tableOf(table.content)}`,
    )
    late.set(table.content, new Set(found.map(({ version }) => Number(version))))
  }
  return {
    leftOut: ({ content, owner }, version, rows) =>
      content !== undefined && owner !== undefined && late.get(content)?.has(version)
        ? `SELECT t.* FROM (${rows}) AS t ANTI JOIN (
  SELECT owner FROM ${tableOf(content)} WHERE version = ${version}) AS l ON l.owner = t.${ident(owner)}`
        : rows,
  }
}

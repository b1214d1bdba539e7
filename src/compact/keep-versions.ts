/** Writes down which versions each record of a content had: by them a version that comes later finds its place among merged ones. */

import { join } from 'node:path'
import type { FileEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { ident, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { withFiles } from '../lake/files/fetch-tables.ts'
import { versionsTable } from '../lake/tables/past-tables.ts'
import { diskError } from '../lake/tables/sort-rows.ts'
import { mainTables } from '../lake/tables/tables.ts'
import { versionFacts } from '../lake/views/current-versions.ts'
import { standInsOf } from '../lake/views/version-chain.ts'
import { versionOrder } from '../lake/views/version-order.ts'
import type { Work } from './compact-work.ts'
import { type CompactContent, compactedId } from './plan-compaction.ts'
import { inputsOf } from './read-group.ts'

export const keepVersions = async (
  { lake, session, snapshot, spill, signal }: Work,
  sink: SinkRun,
  content: CompactContent,
): Promise<readonly FileEntry[]> => {
  const main = mainTables().find((table) => table.content === content.content)
  if (main === undefined) return []
  const table = versionsTable(content.content)
  const lists = versionFacts(
    snapshot.versions.filter(({ kind, table }) => table === main.name && kind !== 'confirmed'),
  )
  const merged = inputsOf(snapshot, table)
  const standIns = standInsOf(snapshot, main)?.all ?? []
  const isReal = [
    `version >= ${content.fromVersion}`,
    ...(standIns.length === 0 ? [] : [`version NOT IN (${standIns.join(', ')})`]),
  ].join(' AND ')
  try {
    return await withFiles(
      lake,
      [...lists, ...merged],
      join(spill, 'merged'),
      { signal },
      async (placeOf) => {
        const paths = pathsSql(lists.map(({ path }) => placeOf(path)))
        const listed = readParquet(paths, 'union_by_name = true')
        const kept = readParquet(pathsSql(merged.map(({ path }) => placeOf(path))))
        // A mark of a gone company stands in the list of last versions once more where a later listing confirmed it.
        const rows =
          session.relation(`SELECT internal_id, version, max(as_of) AS as_of, bool_or(is_listing) AS is_listing
FROM (
  SELECT ${ident(main.owner ?? '')} AS internal_id, version, as_of, is_listing FROM ${listed} WHERE ${isReal}
  ${merged.length === 0 ? '' : `UNION ALL SELECT internal_id, version, as_of, is_listing FROM ${kept}`}
) GROUP BY internal_id, version ORDER BY internal_id, ${versionOrder()}`)
        return (await sink.write(compactedId(content), table.name, rows)).files
      },
    )
  } catch (error) {
    throw diskError(`Cannot write down the versions of "${content.content}"`, error)
  }
}

/**
 * How many rows of each table are current. Of companies and relations the manifest says it, and of the others where no record came
 * more than once; else their files have to be read.
 */

import { isBucket } from '../core/lake-address.ts'
import { queryMemory } from '../core/memory-shares.ts'
import { readRows } from '../lake/query/read-rows.ts'
import { TABLES } from '../lake/tables/tables.ts'
import { currentRecords } from '../manifest/form/totals.ts'
import { readTableListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'

export interface CurrentRows {
  readonly table: string
  /** Rows of current versions; `null` where files would have to be read for them. */
  readonly rows: number | null
  /** Rows of all versions. */
  readonly versions: number
}

/** As far as the manifest says it: no file of rows is read. */
export const rowsByManifest = (root: SnapshotRoot): readonly CurrentRows[] => {
  const records: Readonly<Record<string, number | undefined>> = currentRecords(root)
  return TABLES.map(({ name, content }) => {
    const versions = root.totals.tables.find(({ table }) => table === name)?.rows ?? 0
    const hasOld = root.versions.some(
      ({ kind, table }) => kind === 'superseded' && table === (content ?? name),
    )
    return { table: name, rows: records[name] ?? (hasOld && versions > 0 ? null : versions), versions }
  })
}

/** Counts rows in files where the manifest does not say how many; files of a bucket are not fetched for it. @throws {ToolkitError} QUERY_FAILED, and those of the lake's files */
export const countCurrent = async (lake: string, root: SnapshotRoot): Promise<readonly CurrentRows[]> => {
  const known = rowsByManifest(root)
  if (isBucket(lake) || known.every(({ rows }) => rows !== null)) return known
  const { openLakeQuery } = await import('../lake/query/lake-query.ts')
  const query = await openLakeQuery({
    ...{ lake, inPlace: true, memoryBytes: queryMemory(undefined) },
    snapshot: (table, withMerged) => readTableListed(lake, root, table, withMerged),
  })
  try {
    const counted: CurrentRows[] = []
    for (const one of known) {
      const count = async (): Promise<number> =>
        Number((await readRows(await query.run(`SELECT count(*) AS n FROM ${one.table}`)))[0]?.n)
      counted.push(one.rows === null ? { ...one, rows: await count() } : one)
    }
    return counted
  } finally {
    query.close()
  }
}

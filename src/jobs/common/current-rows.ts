/**
 * How many rows of each table are current. Of companies and relations the manifest says it; of the other tables it counts rows
 * of all versions, so where records came more than once their files are read.
 */

import { isBucket } from '../../core/lake-address.ts'
import { queryMemory } from '../../core/memory-shares.ts'
import { openLakeQuery } from '../../lake/query/lake-query.ts'
import { TABLES, type Table } from '../../lake/tables/tables.ts'
import { currentRecords } from '../../manifest/form/totals.ts'
import { readTableListed, type SnapshotRoot } from '../../manifest/snapshots/snapshot-root.ts'
import { readRows } from './read-rows.ts'

export interface CurrentRows {
  readonly table: string
  /** Rows of current versions; `null` of a lake in a bucket where files would have to be fetched. */
  readonly rows: number | null
  /** Rows of all versions. */
  readonly versions: number
}

/** @throws {ToolkitError} QUERY_FAILED, and those of the lake's files */
export const countCurrent = async (lake: string, root: SnapshotRoot): Promise<readonly CurrentRows[]> => {
  const records: Readonly<Record<string, number | undefined>> = currentRecords(root)
  const hasOld = ({ content, name }: Table): boolean =>
    root.versions.some(({ kind, table }) => kind === 'superseded' && table === (content ?? name))
  const query =
    TABLES.some(hasOld) && !isBucket(lake)
      ? await openLakeQuery({
          ...{ lake, inPlace: true, memoryBytes: queryMemory(undefined) },
          snapshot: (table) => readTableListed(lake, root, table),
        })
      : undefined
  try {
    const counted: CurrentRows[] = []
    for (const table of TABLES) {
      const { name } = table
      const versions = root.totals.tables.find((one) => one.table === name)?.rows ?? 0
      let rows: number | null = records[name] ?? versions
      if (records[name] === undefined && hasOld(table) && versions > 0)
        rows = query
          ? Number((await readRows(await query.run(`SELECT count(*) AS n FROM ${name}`)))[0]?.n)
          : null
      counted.push({ table: name, rows, versions })
    }
    return counted
  } finally {
    query?.close()
  }
}

/**
 * How many rows of each table are current. The manifest counts rows of all versions; where records came more than once, the
 * current ones are counted: of companies and relations by lists of versions alone, of the other tables in their files.
 */

import { isBucket } from '../../core/lake-address.ts'
import { queryMemory } from '../../core/memory-shares.ts'
import { openLakeQuery } from '../../lake/query/lake-query.ts'
import { mainTables, TABLES, type Table } from '../../lake/tables/tables.ts'
import type { SnapshotRoot } from '../../manifest/snapshots/snapshot-root.ts'
import { readTableListed } from '../../manifest/snapshots/snapshot-root.ts'
import { readRows } from './read-rows.ts'

export interface CurrentRows {
  readonly table: string
  /** Rows of current versions; `null` where files would have to be read for them and are not. */
  readonly rows: number | null
  /** Rows of all versions. */
  readonly versions: number
}

/**
 * @param tables those to count
 * @param inFiles whether files of rows may be read; those of a bucket never are
 * @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED, QUERY_FAILED
 */
export const countCurrent = async (
  lake: string,
  root: SnapshotRoot,
  tables: readonly Table[] = TABLES,
  inFiles: boolean = !isBucket(lake),
): Promise<readonly CurrentRows[]> => {
  const versionsOf = (name: string): number =>
    root.totals.tables.find(({ table }) => table === name)?.rows ?? 0
  const hasOld = ({ content, name }: Table): boolean =>
    root.versions.some(({ kind, table }) => kind === 'superseded' && table === (content ?? name))
  const isCounted = (name: string): boolean => inFiles || mainTables().some((main) => main.name === name)
  const query = tables.some(hasOld)
    ? await openLakeQuery({
        ...{ lake, inPlace: true, memoryBytes: queryMemory(undefined) },
        snapshot: (table) => readTableListed(lake, root, table),
      })
    : undefined
  try {
    const counted: CurrentRows[] = []
    for (const table of tables) {
      const { name } = table
      const versions = versionsOf(name)
      let rows: number | null = versions
      if (query !== undefined && hasOld(table) && versions > 0)
        rows = isCounted(name)
          ? Number((await readRows(await query.run(`SELECT count(*) AS n FROM ${name}`)))[0]?.n)
          : null
      counted.push({ table: name, rows, versions })
    }
    return counted
  } finally {
    query?.close()
  }
}

/** The dry run of a compaction: what it would leave, without writing anything. */

import type { FileEntry, Snapshot } from '../../core/partition.ts'
import { newSpillFolder } from '../../lake/duckdb/spill-folder.ts'
import { fetchFiles } from '../../lake/lake/fetch-tables.ts'
import { currentSelect } from '../../lake/lake/sort-rows.ts'
import { type Table, tablesOf } from '../../lake/tables/tables.ts'
import { dictionaryTable } from './check-inputs.ts'
import {
  type CompactedTable,
  type CompactionOptions,
  type CompactSummary,
  findSuperseded,
  sizesOf,
  type Work,
  withSession,
} from './compact-work.ts'
import { type CompactPlan, DEFAULT_TARGET_BYTES } from './plan-compaction.ts'

/** How many rows of a table are current, and an estimate of their bytes and files. */
const plannedTable = async (
  { session, snapshot, lake, targetBytes }: Work,
  table: Table,
  files: readonly FileEntry[],
): Promise<CompactedTable> => {
  const before = sizesOf(files.filter((file) => file.table === table.name))
  if (before.rows === 0) return { table: table.name, before, after: { files: 0, rows: 0, bytes: 0 } }
  const [counted] = await session.rows(
    `SELECT count(*) AS rows FROM (${currentSelect(table, snapshot, lake)})`,
  )
  const rows = Number(counted?.rows)
  const bytes = Math.round((before.bytes * rows) / before.rows)
  return { table: table.name, before, after: { files: Math.ceil(bytes / targetBytes), rows, bytes } }
}

/** What a compaction would do. Reads the ids of all versions, writes nothing. */
export const dryRunCompaction = async (
  options: CompactionOptions,
  snapshot: Snapshot,
  { contents }: CompactPlan,
): Promise<CompactSummary> => {
  const { lake, targetBytes = DEFAULT_TARGET_BYTES, signal } = options
  const report = options.onEvent ?? (() => undefined)
  await fetchFiles(lake, [...contents.flatMap(({ files }) => files), ...snapshot.files], { signal })
  const spill = await newSpillFolder()
  const tables = await withSession(options, spill.path, async (session) => {
    const parts: Work = { session, snapshot, lake, targetBytes, signal, report }
    const found: CompactedTable[] = []
    for (const content of contents) {
      if (!(await findSuperseded(parts, content))) continue
      for (const table of tablesOf(content.content))
        found.push(await plannedTable(parts, table, content.files))
    }
    return [...found, await plannedTable(parts, dictionaryTable(), snapshot.files)]
  }).finally(spill.remove)
  return {
    kind: 'planned',
    snapshot: snapshot.snapshot,
    partitions: contents.reduce((sum, one) => sum + one.partitions.length, 0),
    tables: tables.filter(({ before }) => before.files > 0).sort((a, b) => (a.table < b.table ? -1 : 1)),
  }
}

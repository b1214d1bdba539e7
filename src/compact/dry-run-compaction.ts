/** The dry run of a compaction: what it would leave, without writing anything. */

import type { Snapshot } from '../core/partition.ts'
import { newSpillFolder } from '../lake/duckdb/database-files.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { pastOf } from '../lake/tables/past-tables.ts'
import { dictionaryTable, type Table, tablesOf } from '../lake/tables/tables.ts'
import { currentRows } from '../lake/views/current-versions.ts'
import { withRewritingSession } from '../run/rewriting-session.ts'
import { temporaryName } from '../support/process-identity.ts'
import {
  type CompactedTable,
  type Compaction,
  type CompactSummary,
  sizesOf,
  type Work,
  workOf,
} from './compact-work.ts'
import { findSuperseded } from './find-superseded.ts'
import type { HistoryLimit } from './history-limit.ts'
import { type CompactContent, type CompactPlan, filesAtOnce } from './plan-compaction.ts'
import { inputsOf, readGroup } from './read-group.ts'

/** How many rows of a table are current, and an estimate of their bytes and files. */
const plannedTable = async (
  work: Work,
  table: Table,
  pieceBytes = work.pieceBytes,
): Promise<CompactedTable> => {
  const files = inputsOf(work.snapshot, table)
  const before = sizesOf(files)
  let rows = 0
  for (const group of cutByBytes(files, pieceBytes, filesAtOnce(table))) {
    work.signal?.throwIfAborted()
    const [counted] = await readGroup(work, table, group, ({ versioned }) =>
      work.session.rows(`SELECT count(*) AS rows FROM (${currentRows(table, versioned)})`),
    )
    rows += Number(counted?.rows)
  }
  return { table: table.name, before, after: estimated(work, rows, before) }
}

const estimated = (
  { targetBytes }: Work,
  rows: number,
  before: CompactedTable['before'],
): CompactedTable['after'] => {
  const bytes = before.rows === 0 ? 0 : Math.round((before.bytes * rows) / before.rows)
  return { files: Math.ceil(bytes / targetBytes), rows, bytes }
}

/** The past rows of a table: at most those that are and those that were replaced since, as equal neighbours become one. */
const plannedPast = (
  work: Work,
  table: Table,
  current: CompactedTable,
  limit: HistoryLimit,
): CompactedTable => {
  const before = sizesOf(inputsOf(work.snapshot, pastOf(table)))
  const rows = Number.isFinite(limit.fromVersion) ? before.rows + current.before.rows - current.after.rows : 0
  const after = estimated(work, rows, before.rows > 0 ? before : current.before)
  return { table: pastOf(table).name, before, after }
}

/** The result that a compaction would have. Reads the ids of all versions, writes nothing. */
export const dryRunCompaction = async (
  options: Compaction,
  snapshot: Snapshot,
  { contents }: CompactPlan,
  limitOf: (content: CompactContent) => HistoryLimit,
): Promise<CompactSummary> => {
  const spill = await newSpillFolder()
  const copies = inLake(options.lake, `${RUNS_FOLDER}/${temporaryName()}`)
  const tables = await withRewritingSession(options, spill.path, async (session) => {
    const merged = { ...snapshot, partitions: contents.flatMap(({ partitions }) => partitions) }
    const work = workOf(options, session, merged, { run: '', spill: spill.path, copies })
    const found: CompactedTable[] = []
    for (const content of contents) {
      if ((await findSuperseded(work, content)) === undefined) continue
      for (const table of tablesOf(content.content)) {
        const current = await plannedTable(work, table)
        const past = plannedPast(work, table, current, limitOf(content))
        found.push(current, ...(past.before.rows + past.after.rows > 0 ? [past] : []))
      }
    }
    // The dictionaries become a single one.
    return [...found, await plannedTable(work, dictionaryTable(), Number.POSITIVE_INFINITY)]
  }).finally(spill.remove)
  return {
    kind: 'planned',
    snapshot: snapshot.snapshot,
    partitions: contents.reduce((sum, one) => sum + one.partitions.length, 0),
    tables: tables
      .filter(({ before, after }) => before.files + after.rows > 0)
      .sort((a, b) => (a.table < b.table ? -1 : 1)),
  }
}

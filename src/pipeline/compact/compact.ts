/**
 * Compaction: rewrites a lake to current versions only, in files of one size and in order, as one snapshot. DuckDB
 * sorts table after table beyond memory; at no time more than one of them stands sorted beside the lake.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { systemCode, writeError } from '../../core/errors.ts'
import type { FileEntry, PartitionEntry, Snapshot } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { engineError } from '../../lake/duckdb/engine.ts'
import { inLake } from '../../lake/lake/layout.ts'
import { currentSelect, sortRows } from '../../lake/lake/sort-rows.ts'
import { type Table, tablesOf } from '../../lake/tables/tables.ts'
import { commitCompaction } from '../../manifest/commit-compaction.ts'
import { updateLakeFile } from '../../manifest/lake-file.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { newestSnapshot } from '../../manifest/snapshots.ts'
import { parquetLake } from '../../sink/parquet-lake.ts'
import { discard, makeFolder } from '../../support/durable-files.ts'
import { TOOL } from '../../support/tool-version.ts'
import { compactMemory, DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from '../run/memory-shares.ts'
import type { CompactJob } from '../run/run-plan.ts'
import { withRun } from '../run/with-run.ts'
import { checkColumns, checkDictionaries, checkInputs, dictionaryTable } from './check-inputs.ts'
import {
  type CompactedTable,
  type CompactionOptions,
  type CompactSummary,
  findSuperseded,
  sizesOf,
  type Work,
  withSession,
} from './compact-work.ts'
import { clearDeadCompactions, spillFolder, undoCompaction } from './dead-compactions.ts'
import { dryRunCompaction } from './dry-run-compaction.ts'
import {
  type CompactContent,
  type CompactPlan,
  compactedEntry,
  compactedId,
  DEFAULT_TARGET_BYTES,
  planCompaction,
} from './plan-compaction.ts'
import { watchStatement } from './watch-statement.ts'
import { writeCompacted } from './write-compacted.ts'

const compactTable = async (
  work: Work,
  sink: SinkRun,
  spill: string,
  table: Table,
  content: CompactContent,
): Promise<readonly FileEntry[]> => {
  const { session, snapshot, lake, targetBytes, signal, report } = work
  const before = sizesOf(content.files.filter((file) => file.table === table.name))
  if (before.rows === 0) return []
  signal?.throwIfAborted()
  const path = join(spill, `${table.name}.duckdb`)
  const onShare = (share: number): void =>
    report({
      kind: 'progress',
      phase: 'sorting',
      table: table.name,
      rows: Math.round(share * before.rows),
      of: before.rows,
    })
  const sorted = await watchStatement(session, onShare, () =>
    sortRows({ session, lake, snapshot, table, path }),
  )
  const files = await writeCompacted({
    sink,
    table: table.name,
    sorted,
    id: compactedId(content),
    targetBytes,
    bytesPerRow: before.bytes / before.rows,
    onRows: (rows) =>
      report({ kind: 'progress', phase: 'writing', table: table.name, rows, of: sorted.rows }),
    signal,
  })
  await sorted.close()
  await discard(path)
  return files
}

const compactContent = async (
  work: Work,
  sink: SinkRun,
  lease: RunLease,
  content: CompactContent,
): Promise<PartitionEntry[]> => {
  if (!(await findSuperseded(work, content))) return []
  const files: FileEntry[] = []
  for (const table of tablesOf(content.content)) {
    files.push(...(await compactTable(work, sink, spillFolder(lease), table, content)))
  }
  const { rows: records } = sizesOf(files.filter(({ table }) => table === content.content))
  return [compactedEntry(content, lease.run, records, files)]
}

/** One dictionary in place of those of all runs. */
const compactDictionary = async ({ session, snapshot, lake }: Work, sink: SinkRun): Promise<FileEntry[]> => {
  const table = dictionaryTable()
  if (!snapshot.files.some((file) => file.table === table.name)) return []
  const rows = session.relation(
    `SELECT * FROM (${currentSelect(table, snapshot, lake)}) ORDER BY category, line_item`,
  )
  return [...(await sink.write(table.name, table.name, rows)).files]
}

const work = async (
  options: CompactionOptions,
  lease: RunLease,
  snapshot: Snapshot,
  plan: CompactPlan,
): Promise<CompactSummary> => {
  const { lake, targetBytes = DEFAULT_TARGET_BYTES, signal } = options
  const report = options.onEvent ?? (() => undefined)
  const spill = spillFolder(lease)
  await makeFolder(spill, { within: inLake(lake, '') })
  report({ kind: 'started', run: lease.run })
  const inputs = [...plan.contents.flatMap(({ files }) => files), ...snapshot.files]
  const of = sizesOf(inputs).bytes
  await checkInputs(
    lake,
    inputs,
    (bytes) => report({ kind: 'progress', phase: 'checking', bytes, of }),
    signal,
  )
  const sink = await parquetLake({ lake }).open(lease.run)
  const [partitions, runFiles] = await withSession(options, spill, async (session) => {
    const parts: Work = { session, snapshot, lake, targetBytes, signal, report }
    await checkColumns(session, lake, snapshot)
    await checkDictionaries(session, lake, snapshot)
    const made: PartitionEntry[] = []
    for (const content of plan.contents) made.push(...(await compactContent(parts, sink, lease, content)))
    return [made, await compactDictionary(parts, sink)] as const
  })
  signal?.throwIfAborted()
  report({ kind: 'committing', partitions: partitions.length })
  const files = [...partitions.flatMap((one) => one.files), ...runFiles]
  await sink.commit(files)
  const committed = await commitCompaction({
    lease,
    tool: TOOL,
    base: snapshot,
    partitions,
    runFiles,
    now: () => new Date(),
    random: randomBytes,
    signal,
  })
  const noViews = await updateLakeFile(lake)
  return {
    kind: 'compacted',
    snapshot: committed.snapshot,
    partitions: plan.contents.reduce((sum, one) => sum + one.partitions.length, 0),
    tables: tablesBeforeAndAfter(inputs, files),
    ...(noViews !== undefined && { noViews }),
  }
}

const tablesBeforeAndAfter = (
  before: readonly FileEntry[],
  after: readonly FileEntry[],
): readonly CompactedTable[] => {
  const ofTable = (files: readonly FileEntry[], name: string) =>
    sizesOf(files.filter(({ table }) => table === name))
  return [...new Set(before.map(({ table }) => table))].sort().map((table) => ({
    table,
    before: ofTable(before, table),
    after: ofTable(after, table),
  }))
}

/**
 * Compacts a lake. Loads may commit while it works: what they load stays beside its files. A compaction that was
 * interrupted is not resumed: the next one removes what it left and starts over.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `COMPACT_IMPOSSIBLE`, `COMMIT_CONFLICT`
 *   when another compaction was first, `DISK_FULL`, `WRITE_FAILED`, `USAGE`; the lake is as it was then
 */
export const compactLake = async (options: CompactionOptions): Promise<CompactSummary> => {
  const { lake, targetBytes = DEFAULT_TARGET_BYTES, memoryBytes = DEFAULT_MEMORY_BYTES, dryRun } = options
  compactMemory(memoryBytes, options.threads ?? DEFAULT_THREADS)
  // A folder that is no lake must not become one.
  await newestSnapshot(lake)
  if (!dryRun) await clearDeadCompactions(lake, new Date())
  const snapshot = await newestSnapshot(lake)
  if (snapshot === null) return { kind: 'nothing', snapshot: null }
  const plan = planCompaction(snapshot, targetBytes)
  if (plan.compact) return { kind: 'nothing', snapshot: snapshot.snapshot }
  if (dryRun) return dryRunCompaction(options, snapshot, plan)
  const job: CompactJob = { kind: 'compact', targetBytes, snapshot: snapshot.snapshot }
  // An interrupted one is never resumed: the lake may have changed meanwhile.
  return withRun({ lake, plan: { jobs: [job], again: false, limits: {} }, fresh: true }, async (run) => {
    try {
      return await work(options, run, snapshot, plan)
    } catch (error) {
      if (!(await undoCompaction(run, error))) run.keep()
      const action = `Cannot compact lake "${lake}"`
      throw systemCode(error) === undefined ? engineError(action, error) : writeError(action, error)
    }
  })
}

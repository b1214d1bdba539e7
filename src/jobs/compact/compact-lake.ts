/**
 * Compaction: rewrites a lake to current versions only, in files of one size and in order, as one snapshot. DuckDB
 * sorts table after table beyond memory; at no time more than one of them, or a piece of it, stands sorted beside the lake.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { commitCompaction } from '../../commit/commit-compaction.ts'
import type { FileEntry, PartitionEntry, Snapshot } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { inStage } from '../../core/stages.ts'
import { inLake } from '../../lake/files/layout.ts'
import { tablesOf } from '../../lake/tables/tables.ts'
import { currentRows } from '../../lake/views/current-versions.ts'
import type { RunLease } from '../../manifest/runs/run-lease.ts'
import { refreshLakeFile } from '../../manifest/snapshots/lake-file.ts'
import { newestSnapshot } from '../../manifest/snapshots/snapshots.ts'
import { compactMemory, DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from '../../run/memory-shares.ts'
import { failedRewrite, withRewritingSession } from '../../run/rewriting-session.ts'
import type { CompactJob } from '../../run/run-plan.ts'
import { watchedSink } from '../../run/run-tools.ts'
import { withRun } from '../../run/with-run.ts'
import { parquetLake } from '../../sink/parquet-lake.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { TOOL } from '../../support/tool-version.ts'
import { checkDictionaries, dictionaryTable } from './check-inputs.ts'
import { compactListings } from './compact-listings.ts'
import { compactTable } from './compact-table.ts'
import {
  type CompactedTable,
  type CompactionOptions,
  type CompactSummary,
  sizesOf,
  type Work,
  workOf,
} from './compact-work.ts'
import { clearDeadCompactions, spillFolder } from './dead-compactions.ts'
import { dryRunCompaction } from './dry-run-compaction.ts'
import { findSuperseded } from './find-superseded.ts'
import {
  type CompactContent,
  type CompactPlan,
  compactedEntry,
  DEFAULT_TARGET_BYTES,
  planCompaction,
} from './plan-compaction.ts'
import { inputsOf, readGroup } from './read-group.ts'

const compactContent = async (
  work: Work,
  sink: SinkRun,
  content: CompactContent,
): Promise<PartitionEntry[]> => {
  if (!(await findSuperseded(work, content))) return []
  const files: FileEntry[] = []
  for (const table of tablesOf(content.content))
    files.push(...(await compactTable(work, sink, table, content)))
  const { rows: records } = sizesOf(files.filter(({ table }) => table === content.content))
  return [compactedEntry(content, work.run, records, files)]
}

/** One dictionary in place of those of all runs. */
const compactDictionary = async (work: Work, sink: SinkRun): Promise<readonly FileEntry[]> => {
  const table = dictionaryTable()
  const files = inputsOf(work.snapshot, table)
  if (files.length === 0) return []
  return readGroup(work, table, files, async ({ rows, versioned }) => {
    await checkDictionaries(work.session, work.lake, rows)
    const sorted = `SELECT * FROM (${currentRows(table, versioned)}) ORDER BY category, line_item`
    return (await sink.write(table.name, table.name, work.session.relation(sorted))).files
  })
}

const work = async (
  options: CompactionOptions,
  lease: RunLease,
  snapshot: Snapshot,
  plan: CompactPlan,
): Promise<CompactSummary> => {
  const { lake, signal } = options
  const report = options.onEvent ?? (() => undefined)
  const spill = spillFolder(lease)
  await makeFolder(spill, { within: inLake(lake, '') })
  report({ kind: 'started', run: lease.run })
  const inputs = [...plan.contents.flatMap(({ files }) => files), ...snapshot.files]
  const sink = watchedSink(lease.run, await parquetLake({ lake }).open(lease.run))
  const [partitions, runFiles] = await withRewritingSession(options, spill, async (session) => {
    const parts = workOf(options, session, snapshot, { run: lease.run, spill, copies: join(spill, 'files') })
    const dictionary = await compactDictionary(parts, sink)
    const made: PartitionEntry[] = []
    for (const content of plan.contents) made.push(...(await compactContent(parts, sink, content)))
    made.push(...(await compactListings(parts, sink)))
    return [made, dictionary] as const
  })
  signal?.throwIfAborted()
  report({ kind: 'committing', partitions: partitions.length })
  const files = [...partitions.flatMap((one) => one.files), ...runFiles]
  await sink.commit(files)
  const committed = await inStage(
    { stage: 'commit', lake, run: lease.run, pipeline: 'compact', attempt: lease.number },
    () =>
      commitCompaction({
        ...{ lease, tool: TOOL, base: snapshot, partitions, runFiles },
        ...{ now: () => new Date(), random: randomBytes, signal },
      }),
    (head) => ({ committed: { snapshot: head, partitions } }),
  )
  const noViews = await refreshLakeFile(lake)
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
  if (plan.compact) {
    const noViews = dryRun ? undefined : await refreshLakeFile(lake)
    return { kind: 'nothing', snapshot: snapshot.snapshot, ...(noViews !== undefined && { noViews }) }
  }
  if (dryRun) return dryRunCompaction(options, snapshot, plan)
  const job: CompactJob = { kind: 'compact', targetBytes, snapshot: snapshot.snapshot }
  // An interrupted one is never resumed: the lake may have changed meanwhile.
  return withRun({ lake, plan: { jobs: [job], again: false, limits: {} }, fresh: true }, async (run) => {
    try {
      return await work(options, run, snapshot, plan)
    } catch (error) {
      throw await failedRewrite(run, `Cannot compact lake "${lake}"`, error)
    }
  })
}

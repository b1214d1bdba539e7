/**
 * `compact`: rewrites a lake to files of one size and in order, current rows and past ones, as one snapshot. Tables are sorted one
 * after the other, beyond memory; at no time more than one of them, or a piece of it, is on the local disk.
 */

import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { commitCompaction } from '../commit/commit-compaction.ts'
import { discardLoaded } from '../commit/files-of-run.ts'
import { listVersions } from '../commit/record-versions.ts'
import { compactListings, compactTable } from '../compact/compact-table.ts'
import {
  type CompactedTable,
  type Compaction,
  type CompactSummary,
  sizesOf,
  type Work,
  workOf,
} from '../compact/compact-work.ts'
import { dryRunCompaction } from '../compact/dry-run-compaction.ts'
import { findSuperseded } from '../compact/find-superseded.ts'
import { type HistoryLimit, hasPastBeyond, historyLimit } from '../compact/history-limit.ts'
import { keepVersions } from '../compact/keep-versions.ts'
import {
  type CompactContent,
  type CompactPlan,
  compactedEntry,
  planCompaction,
  planMerge,
} from '../compact/plan-compaction.ts'
import { checkDictionaries, inputsOf, readGroup } from '../compact/read-group.ts'
import { ToolkitError } from '../core/errors.ts'
import { compactMemory } from '../core/memory-shares.ts'
import type { FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { inStage } from '../core/stages.ts'
import { inLake, runPath } from '../lake/files/layout.ts'
import { dictionaryTable, tablesOf } from '../lake/tables/tables.ts'
import { currentRows } from '../lake/views/current-versions.ts'
import { listLeftovers } from '../manifest/gc/lake-files.ts'
import { refreshLakeFiles } from '../manifest/lake-file/lake-file.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import { listRunIds, readPlan } from '../manifest/runs/runs.ts'
import { ensureRecord, findCommit, newestRoot, newestSnapshot } from '../manifest/snapshots/snapshots.ts'
import { COMPACT } from '../options/compact.ts'
import type { CompactOptions } from '../options/interfaces.ts'
import { failedRewrite, withRewritingSession } from '../run/rewriting-session.ts'
import type { CompactJob } from '../run/run-plan.ts'
import { watchedSink } from '../run/run-tools.ts'
import { withResumedRun, withRun } from '../run/with-run.ts'
import { parquetLake } from '../sink/parquet-lake.ts'
import { makeFolder } from '../support/durable-files.ts'
import { memberOf } from '../support/json-form.ts'
import { TOOL } from '../support/own-package.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'

/**
 * Rewrites a lake to few files of one size in the order of country and company: the current version of each record, and beside
 * them rows that were replaced, once each; as one more snapshot; older ones stay readable until `gc` removes them. Loads may run meanwhile. Then
 * published tables and sinks are updated.
 *
 * @returns `kind: 'compacted'` with the tables before and after, or `'nothing'` where the lake is compact; of a dry run
 *   `'planned'`
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `COMPACT_IMPOSSIBLE`, `COMMIT_CONFLICT` when
 *   another compaction was first, `DISK_FULL`, `WRITE_FAILED`, `USAGE`, `INTERRUPTED`: the lake is as it was then
 * @example
 * import { compact, convert } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { kind, snapshot } = await compact({ lake: './lake' })
 * console.log(kind, snapshot) // compacted 2
 */
export const compact: (options: CompactOptions) => Promise<CompactSummary & TargetsSummary> = lakeJob(
  'compact',
  COMPACT,
  (options) => compactLake(options),
  'The compaction',
)

const compactContent = async (
  work: Work,
  sink: SinkRun,
  content: CompactContent,
  limit: HistoryLimit,
): Promise<PartitionEntry[]> => {
  const found = await findSuperseded(work, content)
  if (found === undefined) return []
  const files: FileEntry[] = []
  for (const table of tablesOf(content.content))
    files.push(...(await compactTable(work, sink, table, content, { ...found, limit })))
  files.push(...(await keepVersions(work, sink, content)))
  const { rows: records } = sizesOf(files.filter(({ table }) => table === content.content))
  return [compactedEntry(content, work.run, records, files, limit.since)]
}

/** The dictionaries of all runs become a single one. */
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
  options: Compaction,
  lease: RunLease,
  snapshot: Snapshot,
  plan: CompactPlan,
  limitOf: (content: CompactContent) => HistoryLimit,
): Promise<CompactSummary> => {
  const { lake, signal } = options
  const report = options.onEvent ?? (() => undefined)
  const spill = spillFolder(lease)
  await makeFolder(spill, { within: inLake(lake, '') })
  report({ kind: 'started', run: lease.run })
  const inputs = [...plan.contents.flatMap(({ files }) => files), ...snapshot.files]
  const merged = plan.contents.flatMap(({ partitions }) => partitions)
  const sink = watchedSink(lease.run, await parquetLake({ lake }).open(lease.run))
  const [partitions, runFiles] = await withRewritingSession(options, spill, async (session) => {
    await session.countProgress()
    const parts = workOf(
      options,
      session,
      { ...snapshot, partitions: merged },
      { run: lease.run, spill, copies: join(spill, 'files') },
    )
    const dictionary = await compactDictionary(parts, sink)
    const made: PartitionEntry[] = []
    for (const content of plan.contents)
      made.push(...(await compactContent(parts, sink, content, limitOf(content))))
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
        ...{ lease, tool: TOOL, base: snapshot, replaced: merged, partitions, runFiles },
        versions: (request) =>
          withRewritingSession(options, spill, (session) =>
            listVersions({ lake, session, localBytes: options.localBytes })(request),
          ),
        ...{ now: () => new Date(), random: randomBytes, signal },
      }),
    (head) => ({ committed: { snapshot: head, partitions } }),
  )
  const noViews = await refreshLakeFiles(lake)
  return {
    kind: 'compacted',
    snapshot: committed.snapshot,
    partitions: merged.length,
    tables: tablesBeforeAndAfter(inputs, files),
    ...pastSinceOf(partitions),
    ...(noViews !== undefined && { noViews }),
  }
}

/** The latest instant since which a content has all past rows. */
const pastSinceOf = (partitions: readonly PartitionEntry[]): { readonly pastSince?: string } => {
  const [latest] = partitions
    .flatMap(({ pastSince }) => pastSince ?? [])
    .toSorted()
    .toReversed()
  return latest === undefined ? {} : { pastSince: latest }
}

const tablesBeforeAndAfter = (
  before: readonly FileEntry[],
  after: readonly FileEntry[],
): readonly CompactedTable[] => {
  const ofTable = (files: readonly FileEntry[], name: string) =>
    sizesOf(files.filter(({ table }) => table === name))
  return [...new Set([...before, ...after].map(({ table }) => table))].sort().map((table) => ({
    table,
    before: ofTable(before, table),
    after: ofTable(after, table),
  }))
}

/**
 * Loads may commit while it works: what they load stays beside its files. A compaction that was interrupted is not resumed:
 * the next one removes what it left and starts over.
 */
const compactLake = async (options: Compaction): Promise<CompactSummary> => {
  const {
    lake,
    targetBytes,
    memoryBytes,
    threads,
    auto,
    dropHistory,
    dryRun,
    now = () => new Date(),
  } = options
  if (auto && dropHistory)
    throw new ToolkitError(
      'USAGE',
      'Cannot drop the history in a merge of the newest partitions: expected --drop-history without --auto',
    )
  compactMemory(memoryBytes, threads)
  // A folder that is no lake must not become one.
  await newestSnapshot(lake)
  if (!dryRun) await clearDeadCompactions(lake, new Date())
  const snapshot = await newestSnapshot(lake)
  if (snapshot === null) return { kind: 'nothing', snapshot: null }
  const limitOf = (content: CompactContent): HistoryLimit =>
    // A merge of the newest partitions drops nothing: what is old stands before them.
    historyLimit(content.fromVersion === 0 ? options : {}, snapshot, content, now())
  const plan = auto
    ? planMerge(snapshot)
    : planCompaction(snapshot, targetBytes, (content) => !hasPastBeyond(snapshot, content, limitOf(content)))
  if (plan.compact) {
    const noViews = dryRun ? undefined : await refreshLakeFiles(lake)
    return { kind: 'nothing', snapshot: snapshot.snapshot, ...(noViews !== undefined && { noViews }) }
  }
  if (dryRun) return dryRunCompaction(options, snapshot, plan, limitOf)
  const job: CompactJob = { kind: 'compact', targetBytes, snapshot: snapshot.snapshot }
  // An interrupted one is never resumed: the lake may have changed meanwhile.
  return withRun({ lake, plan: { jobs: [job], again: false, limits: {} }, fresh: true }, async (run) => {
    try {
      return await work(options, run, snapshot, plan, limitOf)
    } catch (error) {
      throw await failedRewrite(run, `Cannot compact lake "${lake}"`, error)
    }
  })
}

/** The folder in which DuckDB sorts: the run's, so that gc removes it with the run. */
const spillFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/spill`)

const isCompaction = async (lake: string, run: string): Promise<boolean> =>
  memberOf(await readPlan(lake, run).catch(() => undefined), 'pipeline') === 'compact'

const isTaken = (error: unknown): boolean =>
  error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND')

/** Removes compactions whose process is gone: none of them is resumed, the lake may have changed meanwhile. */
export const clearDeadCompactions = async (lake: string, now: Date): Promise<void> => {
  for (const run of await listRunIds(lake)) {
    if (!(await isCompaction(lake, run))) continue
    try {
      await withResumedRun(lake, run, now, async (own) => {
        // Not before the run is ours: until then it may commit, and its files be the lake's.
        const commit = await findCommit(lake, run, own.base, await newestRoot(lake))
        await (commit === null ? discardLoaded(lake, run) : ensureRecord(lake, commit.snapshot))
      })
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
  // Unfinished writes too, and a run that was killed while its folder was removed: it has another name already.
  for (const { path } of await listLeftovers(lake, { now }))
    await rm(inLake(lake, path), { recursive: true, force: true })
}

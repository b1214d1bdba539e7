/**
 * Compaction: rewrites a lake to current versions only, in files of one size and in order, as one snapshot. DuckDB
 * sorts table after table beyond memory; at no time more than one of them stands sorted beside the lake.
 */

import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import type { Sink } from '../core/sink.ts'
import { currentSelect, diskError, keepOrder, sortRows } from '../lake/compact-rows.ts'
import { HIDDEN_SCHEMA, makeSuperseded } from '../lake/current-versions.ts'
import { Engine, type Session } from '../lake/duckdb.ts'
import { mainTables, type Table, tablesOf } from '../lake/tables.ts'
import { commitCompaction } from '../manifest/compact-commit.ts'
import type { RunClaim } from '../manifest/run-claims.ts'
import { createRun, removeRun } from '../manifest/runs.ts'
import { newestSnapshot } from '../manifest/snapshots.ts'
import { parquetLake } from '../sink/parquet-lake.ts'
import { storageOf } from '../storage/open-storage.ts'
import { makeFolder } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { TOOL } from '../support/tool-version.ts'
import { checkDictionaries, checkInputs, dictionaryTable } from './compact-check.ts'
import { writeCompacted } from './compact-files.ts'
import { compactMemory } from './compact-memory.ts'
import {
  type CompactContent,
  type CompactPlan,
  compactedEntry,
  compactedId,
  DEFAULT_TARGET_BYTES,
  planCompaction,
} from './compact-plan.ts'
import { type CompactEvent, watchStatement } from './compact-progress.ts'
import { COMPACT_PIPELINE, clearDeadCompactions, giveUpCompaction, spillFolder } from './compact-runs.ts'
import { DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from './divide-memory.ts'

export interface CompactOptions {
  readonly lake: string
  /** Size of a file, in bytes. @default 256 MiB */
  readonly targetBytes?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: CompactEvent) => void) | undefined
  /** Changes nothing and tells what would be done. @default false */
  readonly dryRun?: boolean | undefined
}

/** A table before and after. */
export interface CompactedTable {
  readonly table: string
  readonly before: { readonly files: number; readonly rows: number; readonly bytes: number }
  readonly after: { readonly files: number; readonly rows: number; readonly bytes: number }
}

/** `nothing`: the lake is compact already. `planned`: what would be done; bytes and files of it are an estimate. */
export type CompactSummary =
  | { readonly kind: 'nothing'; readonly snapshot: number | null }
  | {
      readonly kind: 'compacted' | 'planned'
      /** The snapshot that was made; of a plan the one it is about. */
      readonly snapshot: number
      /** Partitions that were put together. */
      readonly partitions: number
      readonly tables: readonly CompactedTable[]
    }

const sizesOf = (files: readonly Pick<FileEntry, 'rows' | 'bytes'>[]): CompactedTable['before'] => ({
  files: files.length,
  rows: files.reduce((sum, { rows }) => sum + rows, 0),
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
})

/** Everything that one compaction works with. */
interface Work {
  readonly session: Session
  readonly snapshot: Snapshot
  readonly lake: string
  readonly targetBytes: number
  readonly signal: AbortSignal | undefined
  readonly tell: (event: CompactEvent) => void
}

/** An engine for one compaction, stopped by the signal. */
const withSession = async <T>(
  options: CompactOptions,
  spill: string,
  use: (session: Session) => Promise<T>,
): Promise<T> => {
  const { memoryBytes = DEFAULT_MEMORY_BYTES, threads = DEFAULT_THREADS, signal } = options
  const engine = await Engine.open({
    memoryBytes: compactMemory(memoryBytes, threads),
    threads,
    spillFolder: spill,
  })
  try {
    const session = await engine.connect()
    const stop = (): void => session.interrupt()
    signal?.addEventListener('abort', stop)
    try {
      await keepOrder(session)
      await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
      return await use(session)
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  } finally {
    engine.close()
    await rm(spill, { recursive: true, force: true })
  }
}

/** Makes the table of what is superseded; without a record there is nothing to make it of. */
const findSuperseded = async (work: Work, { content, files }: CompactContent): Promise<boolean> => {
  const { session, snapshot, lake, tell } = work
  const main = mainTables().find((table) => table.content === content)
  const rows = files.filter(({ table }) => table === content).reduce((sum, one) => sum + one.rows, 0)
  if (main === undefined || rows === 0) return false
  const told = (share: number): void =>
    tell({ kind: 'progress', phase: 'finding', table: content, rows: Math.round(share * rows), of: rows })
  await watchStatement(session, told, async () => {
    try {
      await session.run(makeSuperseded(snapshot, lake, main))
    } catch (error) {
      throw diskError(`Cannot find what is superseded in "${content}"`, error)
    }
  })
  return true
}

const compactTable = async (
  work: Work,
  sink: Sink,
  spill: string,
  table: Table,
  content: CompactContent,
): Promise<readonly FileEntry[]> => {
  const { session, snapshot, lake, targetBytes, signal, tell } = work
  const before = sizesOf(content.files.filter((file) => file.table === table.name))
  if (before.rows === 0) return []
  signal?.throwIfAborted()
  const path = join(spill, `${table.name}.duckdb`)
  const told = (share: number): void =>
    tell({
      kind: 'progress',
      phase: 'sorting',
      table: table.name,
      rows: Math.round(share * before.rows),
      of: before.rows,
    })
  const sorted = await watchStatement(session, told, () => sortRows({ session, lake, snapshot, table, path }))
  const files = await writeCompacted({
    sink,
    table: table.name,
    sorted,
    id: compactedId(content),
    targetBytes,
    bytesPerRow: before.bytes / before.rows,
    onRows: (rows) => tell({ kind: 'progress', phase: 'writing', table: table.name, rows, of: sorted.rows }),
    signal,
  })
  await sorted.close()
  await rm(path, { force: true })
  return files
}

const compactContent = async (
  work: Work,
  sink: Sink,
  claim: RunClaim,
  content: CompactContent,
): Promise<PartitionEntry[]> => {
  if (!(await findSuperseded(work, content))) return []
  const files: FileEntry[] = []
  for (const table of tablesOf(content.content)) {
    files.push(...(await compactTable(work, sink, spillFolder(claim), table, content)))
  }
  const { rows: records } = sizesOf(files.filter(({ table }) => table === content.content))
  return [compactedEntry(content, claim.run, records, files)]
}

/** One dictionary in place of those of all runs. */
const compactDictionary = async ({ session, snapshot, lake }: Work, sink: Sink): Promise<FileEntry[]> => {
  const table = dictionaryTable()
  if (!snapshot.files.some((file) => file.table === table.name)) return []
  const rows = session.relation(
    `SELECT * FROM (${currentSelect(table, snapshot, lake)}) ORDER BY category, line_item`,
  )
  return [...(await sink.write(table.name, table.name, rows)).files]
}

const work = async (
  options: CompactOptions,
  claim: RunClaim,
  snapshot: Snapshot,
  plan: CompactPlan,
): Promise<CompactSummary> => {
  const { lake, targetBytes = DEFAULT_TARGET_BYTES, signal } = options
  const tell = options.onEvent ?? (() => undefined)
  const spill = spillFolder(claim)
  await makeFolder(spill)
  tell({ kind: 'started', run: claim.run })
  const inputs = [...plan.contents.flatMap(({ files }) => files), ...snapshot.files]
  const of = sizesOf(inputs).bytes
  await checkInputs(lake, inputs, (bytes) => tell({ kind: 'progress', phase: 'checking', bytes, of }), signal)
  const sink = parquetLake({ lake })
  await sink.open(claim.run)
  const [partitions, runFiles] = await withSession(options, spill, async (session) => {
    const parts: Work = { session, snapshot, lake, targetBytes, signal, tell }
    await checkDictionaries(session, lake, snapshot)
    const made: PartitionEntry[] = []
    for (const content of plan.contents) made.push(...(await compactContent(parts, sink, claim, content)))
    return [made, await compactDictionary(parts, sink)] as const
  })
  signal?.throwIfAborted()
  tell({ kind: 'committing', partitions: partitions.length })
  const files = [...partitions.flatMap((one) => one.files), ...runFiles]
  await sink.commit(files)
  const committed = await commitCompaction({
    claim,
    tool: TOOL,
    base: snapshot,
    partitions,
    runFiles,
    now: () => new Date(),
    random: randomBytes,
    signal,
  })
  await removeRun(claim)
  return {
    kind: 'compacted',
    snapshot: committed.snapshot,
    partitions: plan.contents.reduce((sum, one) => sum + one.partitions.length, 0),
    tables: tablesBeforeAndAfter(inputs, files),
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

/** How many rows of a table are current, and about how many bytes and files they would be. */
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
const planned = async (
  options: CompactOptions,
  snapshot: Snapshot,
  { contents }: CompactPlan,
): Promise<CompactSummary> => {
  const { lake, targetBytes = DEFAULT_TARGET_BYTES, signal } = options
  const tell = options.onEvent ?? (() => undefined)
  await storageOf(lake).fetch([...contents.flatMap(({ files }) => files), ...snapshot.files], { signal })
  const tables = await withSession(options, join(tmpdir(), temporaryName()), async (session) => {
    const parts: Work = { session, snapshot, lake, targetBytes, signal, tell }
    const found: CompactedTable[] = []
    for (const content of contents) {
      if (!(await findSuperseded(parts, content))) continue
      for (const table of tablesOf(content.content))
        found.push(await plannedTable(parts, table, content.files))
    }
    return [...found, await plannedTable(parts, dictionaryTable(), snapshot.files)]
  })
  return {
    kind: 'planned',
    snapshot: snapshot.snapshot,
    partitions: contents.reduce((sum, one) => sum + one.partitions.length, 0),
    tables: tables.filter(({ before }) => before.files > 0).sort((a, b) => (a.table < b.table ? -1 : 1)),
  }
}

/**
 * Compacts a lake. Loads may commit while it works: what they load stays beside what it makes. A compaction that was
 * cut off is not gone on with: the next one clears away what it left and starts anew.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `COMPACT_IMPOSSIBLE`, `COMMIT_CONFLICT`
 *   when another compaction was first, `DISK_FULL`, `WRITE_FAILED`, `USAGE`; the lake is as it was then
 */
export const compact = async (options: CompactOptions): Promise<CompactSummary> => {
  const { lake, targetBytes = DEFAULT_TARGET_BYTES, memoryBytes = DEFAULT_MEMORY_BYTES, dryRun } = options
  compactMemory(memoryBytes, options.threads ?? DEFAULT_THREADS)
  // A folder that is no lake must not become one.
  await newestSnapshot(lake)
  if (!dryRun) await clearDeadCompactions(lake, new Date())
  const snapshot = await newestSnapshot(lake)
  if (snapshot === null) return { kind: 'nothing', snapshot: null }
  const plan = planCompaction(snapshot, targetBytes)
  if (plan.compact) return { kind: 'nothing', snapshot: snapshot.snapshot }
  if (dryRun) return planned(options, snapshot, plan)
  const claim = await createRun({
    lake,
    plan: {
      pipeline: COMPACT_PIPELINE,
      inputs: [],
      cwd: '',
      again: false,
      limits: { targetBytes, snapshot: snapshot.snapshot },
    },
    now: new Date(),
    random: randomBytes,
  })
  try {
    return await work(options, claim, snapshot, plan)
  } catch (error) {
    await giveUpCompaction(claim)
    throw error
  }
}

/**
 * Feeds further sinks from a lake: each gets, in the order of commits, the runs that it does not show yet. The lake is
 * only read. What was interrupted is repeated by the same call.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type ErrorCode, systemCode, ToolkitError } from '../core/errors.ts'
import { besideTarget, queryMemory } from '../core/memory-shares.ts'
import type { CommittedPartition, FileEntry, Snapshot } from '../core/partition.ts'
import type { DeliverySink, Sink, SinkContext } from '../core/sink.ts'
import { isCompaction } from '../core/source-kinds.ts'
import { Engine, type Session } from '../lake/duckdb/engine.ts'
import { interruptOn } from '../lake/duckdb/stoppable.ts'
import { fetchFiles } from '../lake/files/fetch-tables.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { compileProjection } from '../lake/projection/compile-projection.ts'
import { computedColumns } from '../lake/projection/computed-columns.ts'
import { SINK_TABLES } from '../lake/tables/tables.ts'
import { computedOfLake, takenText } from '../manifest/form/projections.ts'
import { ensureLakeId } from '../manifest/snapshots/lake-id.ts'
import { newestSnapshot, readRoot } from '../manifest/snapshots/snapshots.ts'
import type { Read } from '../options/entry.ts'
import type { DeliverOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { DELIVER } from '../options/publish.ts'
import { shownText } from '../sink/export-names.ts'
import { needsOneThread } from '../sink/targets.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { findLate } from './late-versions.ts'
import { lostRuns, refuseLost } from './lost-runs.ts'
import { openSinks } from './open-sink.ts'
import {
  layerOnTarget,
  orNotComputed,
  type PartToDeliver,
  type RowsToDeliver,
  rowsFor,
} from './target-rows.ts'

export interface DeliverProgress {
  readonly sink: string
  readonly run: string
  /** Runs delivered to this sink so far, and the total to deliver. */
  readonly runsDone: number
  readonly runs: number
  /** Rows written to this sink so far. */
  readonly rows: number
  /** Whether all of the run is written and the sink is making it visible: a database loads it now. */
  readonly loading: boolean
}

/** Runs and rows that one sink received. */
export interface Delivery {
  readonly sink: string
  readonly runs: readonly string[]
  readonly rows: number
  /** Warnings for a person, such as characters that the target cannot hold. */
  readonly warnings: readonly string[]
}

export interface RunToDeliver {
  readonly run: string
  readonly parts: readonly PartToDeliver[]
  /** Runs whose rows it holds, where it is a compaction. */
  readonly merged: readonly string[]
}

const isTable = (name: string): boolean => SINK_TABLES.some((table) => table.name === name)

/** The runs of a snapshot in the order of their commits. The quarantine is the lake's own. */
export const runsOf = ({ partitions, files, merged = [] }: Snapshot): readonly RunToDeliver[] => {
  const runs = new Map<string, CommittedPartition[]>()
  for (const partition of partitions) {
    const known = runs.get(partition.run)
    if (known) known.push(partition)
    else runs.set(partition.run, [partition])
  }
  /** Runs of what a compaction has put together: of lower versions than its own, and higher ones than those of the partitions before. */
  const mergedIn = (entries: readonly CommittedPartition[]): readonly string[] =>
    entries
      .filter(({ source }) => isCompaction(source))
      .flatMap(({ content, version }) => {
        const before = partitions.filter(
          (one) => one.content === content && one.version < version && one.run !== entries[0]?.run,
        )
        const from = before.at(-1)?.version ?? 0
        return merged.filter((one) => one.content === content && one.version > from && one.version < version)
      })
      .toSorted((a, b) => a.version - b.version)
      .map((one) => one.run)
  return [...runs].map(([run, entries]) => ({
    run,
    parts: [
      ...entries.map(({ id, version, files: own }) => ({
        ...{ partition: id, version },
        files: own.filter(({ table }) => isTable(table)),
      })),
      {
        partition: 'line_items',
        version: 0,
        files: files.filter((file) => file.run === run && isTable(file.table)),
      },
    ],
    merged: mergedIn(entries),
  }))
}

const knownTo = (runs: readonly RunToDeliver[]): ReadonlySet<string> =>
  new Set(runs.flatMap(({ run, merged }) => [run, ...merged]))

/**
 * Runs that a sink lacks. Runs are delivered in the order of commits: a sink that has the last merged run, or a later one, has all
 * merged runs.
 */
export const lackingOf = async (
  sink: DeliverySink,
  runs: readonly RunToDeliver[],
  lent: SinkContext,
): Promise<readonly RunToDeliver[]> => {
  const loaded = await sink.deliveredRuns(lent)
  // A sink of a program may have asked nothing of what it shows.
  if (lent.claim?.lost) await refuseLost(lent.claim.lost, loaded, `sink "${sink.name}"`)
  const newest = runs.findLastIndex(({ run }) => loaded.has(run))
  const isThere = ({ run, merged }: RunToDeliver, at: number): boolean =>
    loaded.has(run) || (merged.length > 0 && (at < newest || loaded.has(merged.at(-1) ?? '')))
  return runs.filter((run, at) => !isThere(run, at))
}

type Asked = Read<DeliverOptions, typeof DELIVER>

interface Delivering extends Omit<Asked, 'take'>, RowsToDeliver {
  readonly lakeId: string
  readonly session: Session
  /** Settings that every run of a sink is opened with. */
  readonly lent: SinkContext
}

/** Stops between two steps; a statement of DuckDB is interrupted at once. */
const stopIfAborted = ({ signal }: Pick<DeliverOptions, 'signal'>): void => {
  if (signal?.aborted) throw new ToolkitError('INTERRUPTED', 'interrupted', {}, signal.reason)
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** @returns warnings of its commit */
const deliverRun = async (
  sink: Sink,
  { run, parts }: RunToDeliver,
  options: Delivering,
  { onRows, onLoad }: { readonly onRows: (rows: number) => void; readonly onLoad: () => void },
): Promise<readonly string[]> => {
  const { lake, session, take, signal } = options
  const target = await sink.open(run, options.lent)
  try {
    const written: FileEntry[] = []
    for (const part of parts) {
      const { partition, files } = part
      stopIfAborted(options)
      await fetchFiles(lake, files, { signal })
      for (const [name, own] of Map.groupBy(files, ({ table }) => table)) {
        const table = SINK_TABLES.find((one) => one.name === name)
        if (table === undefined) continue
        stopIfAborted(options)
        if (take?.takesTable(name) === false) continue
        const rows = session.relation(rowsFor(options, table, part, own))
        const receipt = await orNotComputed(options, table, () => target.write(partition, name, rows))
        written.push(...receipt.files)
        onRows(receipt.rows)
      }
    }
    stopIfAborted(options)
    onLoad()
    await target.commit(written)
    return target.warnings ?? []
  } catch (error) {
    // The next attempt writes over its leftovers; the first error is the one to report.
    await target.abort().catch(() => undefined)
    throw error
  }
}

type Outcome =
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'failed'; readonly sink: string; readonly run?: string; readonly error: unknown }

const adoptedText = ({ name }: DeliverySink): string =>
  `Sink "${name}" showed rows without being this lake's: it is from now on, and refuses other lakes; rows that this lake lacks stay in it`

const anewText = ({ name }: DeliverySink, lost: string): string =>
  `Sink "${name}" showed ${shownText(lost)}, which the lake does not have: what the lake has lost is gone from it`

/** Updates one sink; after a failure it gets no later run, which would be out of order. */
const deliverTo = async (
  sink: DeliverySink,
  runs: readonly RunToDeliver[],
  options: Delivering,
): Promise<Outcome> => {
  let rows = 0
  const done: string[] = []
  const warnings: string[] = []
  let current: string | undefined
  let anew = false
  const claim = {
    ...{ lake: options.lakeId, adopt: options.adopt === true, marks: true },
    onAdopted: () => warnings.push(adoptedText(sink)),
    lost: lostRuns(options.lake, options.lakeId, knownTo(runs)),
    overwrite: options.overwrite,
    onAnew: (lost: string) => {
      anew = true
      warnings.push(anewText(sink, lost))
    },
  }
  try {
    const lacking = await lackingOf(sink, runs, { ...options.lent, claim })
    for (const one of lacking) {
      current = one.run
      stopIfAborted(options)
      const report = (loading = false): void =>
        options.onProgress?.({
          sink: sink.name,
          run: one.run,
          runsDone: done.length,
          runs: lacking.length,
          rows,
          loading,
        })
      report()
      const lent = { ...options.lent, anew }
      const more = await deliverRun(
        sink,
        one,
        { ...options, lent },
        {
          onRows: (count) => {
            rows += count
            report()
          },
          onLoad: () => report(true),
        },
      )
      anew = false
      done.push(one.run)
      warnings.push(...more)
    }
    return { kind: 'delivered', delivery: { sink: sink.name, runs: done, rows, warnings } }
  } catch (error) {
    return { kind: 'failed', sink: sink.name, ...(current !== undefined && { run: current }), error }
  }
}

/** The same command would be refused again. */
const REFUSED: ReadonlySet<ErrorCode> = new Set(['TARGET_AHEAD', 'TARGET_OF_ANOTHER_LAKE'])

/** Builds an error for all that failed. DuckDB's own messages may quote data: they stay causes. */
const failure = (
  failures: readonly Extract<Outcome, { kind: 'failed' }>[],
  { signal }: Pick<DeliverOptions, 'signal'>,
): ToolkitError => {
  const strings = failures.map(({ sink, run, error }) => {
    const what = run === undefined ? `what sink "${sink}" lacks` : `run "${run}" to sink "${sink}"`
    const isReportable = error instanceof ToolkitError || systemCode(error) !== undefined
    return `Cannot deliver ${what}: ${isReportable ? reasonOf(error) : 'the rows could not be read or written'}`
  })
  const first = failures.find(({ error }) => error instanceof ToolkitError)?.error
  const code = signal?.aborted
    ? 'INTERRUPTED'
    : first instanceof ToolkitError && first.code !== 'USAGE'
      ? first.code
      : 'TARGET_FAILED'
  return new ToolkitError(
    code,
    `${strings.join('; ')}. The lake itself is committed${REFUSED.has(code) ? '' : '; run the same command again to resume'}`,
    { sinks: failures.map(({ sink }) => sink).join(', ') },
    failures[0]?.error,
  )
}

const delivered = async (options: Asked): Promise<readonly Delivery[]> => {
  const { lake, signal } = options
  const take = await compileProjection(options.take ?? {}, options.hashKey)
  const sinks = await openSinks(options.sinks, lake)
  const snapshot = sinks.length === 0 ? null : await newestSnapshot(lake)
  if (snapshot === null) return []
  const runs = runsOf(snapshot)
  // Two instances of DuckDB are at work where a sink loads a DuckDB file.
  const memoryBytes = besideTarget(queryMemory(options.memoryBytes))
  const root = await readRoot(lake, snapshot.snapshot)
  const own = computedColumns(options.take?.compute)
  const ofLake = (await computedOfLake(root)).filter((one) => !own.some(({ what }) => what === one.what))
  const layer = layerOnTarget(lake, root)
  const taken = takenText(root, take?.declared ?? options.take ?? {})
  // For sinks that load databases. A killed process leaves it there, and gc removes it.
  const staging = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  const lakeId = await ensureLakeId(lake, randomBytes)
  // When rows are joined with the records that are taken, only one thread keeps their order.
  const isJoined = SINK_TABLES.some(({ content }) => content && take?.condition(content) !== undefined)
  const isOneThread = isJoined || sinks.some(({ name }) => needsOneThread(name))
  const engine = await Engine.open({ memoryBytes, keepsOrder: true, ...(isOneThread && { threads: 1 }) })
  try {
    const session = await engine.connect()
    await take?.prepare(session)
    const late = await findLate(session, lake, snapshot, join(staging, 'versions'))
    const deliveryEnded = interruptOn(session, signal)
    const outcomes: Outcome[] = []
    try {
      for (const [at, sink] of sinks.entries()) {
        const lent = { staging: join(staging, String(at)), memoryBytes, signal, layer, taken }
        outcomes.push(
          await deliverTo(sink, runs, {
            ...options,
            lakeId,
            take,
            late,
            computed: { ofLake, own },
            session,
            lent,
          }),
        )
      }
    } finally {
      deliveryEnded()
    }
    const failures = outcomes.filter((one) => one.kind === 'failed')
    if (failures.length > 0) throw failure(failures, options)
    return outcomes.flatMap((one) => (one.kind === 'delivered' ? [one.delivery] : []))
  } finally {
    engine.close()
    await removeIfThere(staging)
  }
}

/**
 * Updates every sink to the newest snapshot, in the order of commits. One that fails does not keep the others
 * from theirs.
 *
 * @returns what each sink received
 * @throws {ToolkitError} `TARGET_REFUSED`, `USAGE` before anything is delivered; `TARGET_OF_ANOTHER_LAKE`,
 *   `TARGET_AHEAD`; when a sink failed, with its code, after the others have received theirs; `INTERRUPTED`
 * @example
 * import { convert, csv, deliver } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const [files] = await deliver({ lake: './lake', sinks: [csv('out/csv')] })
 * console.log(files?.sink, files?.runs.length) // csv 1
 */
export const deliver: (options: DeliverOptions) => Promise<readonly Delivery[]> = job(
  'deliver',
  DELIVER,
  delivered,
)

/**
 * The end of a run: its partitions become visible in one snapshot, unless too many of its lines were bad. The commit reads
 * only the run's folder, so any process may commit, whichever did the work.
 */

import { randomBytes } from 'node:crypto'
import type { bringsNothing } from '../commit/brings-nothing.ts'
import { commitPartitions } from '../commit/commit-run.ts'
import { type CurrencyChange, CurrencyGuard } from '../commit/currency-change.ts'
import type { GoneCompanies, PartialListing, WholeListing } from '../commit/find-gone.ts'
import type { GoneInRun } from '../commit/mark-gone.ts'
import type { writeBack } from '../commit/mistaken-instants.ts'
import { excessText, withinLimit } from '../commit/quarantine-limit.ts'
import { listVersions } from '../commit/record-versions.ts'
import { byInstant } from '../commit/source-instants.ts'
import { ToolkitError } from '../core/errors.ts'
import type {
  CommittedPartition,
  FileEntry,
  PartitionEntry,
  PullEntry,
  SnapshotHead,
} from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { isReplay } from '../core/source-kinds.ts'
import { inStage } from '../core/stages.ts'
import { lineItemsOf } from '../load/line-items.ts'
import type { Loader } from '../load/loader.ts'
import { mayHoldRun } from '../manifest/form/part-summary.ts'
import { sourcesOf } from '../manifest/form/sources.ts'
import { refreshLakeFiles } from '../manifest/lake-file/lake-file.ts'
import {
  type FinishedWork,
  type JournalEntry,
  readFinishedWork,
  type SourceResult,
} from '../manifest/runs/journal.ts'
import type { SeenRun } from '../manifest/runs/run-lease.ts'
import { headOf, readAllListed } from '../manifest/snapshots/snapshot-root.ts'
import { ensureRecord, newestRoot, readRoot } from '../manifest/snapshots/snapshots.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import { TOOL } from '../support/own-package.ts'
import type { NotDelivered } from './opened-job.ts'
import { checkProjection } from './projection-of-run.ts'
import { pipelineOf, planOf, type RunPlan } from './run-plan.ts'
import type { RunScope } from './with-run.ts'
import type { LeftOut } from './work/known-sources.ts'
import { NamesOfRun, seenItemsOf } from './work/names-of-run.ts'
import type { RunEvent } from './work/progress.ts'

export interface CommitOptions {
  readonly maxQuarantined: QuarantineLimit
  /** Lets figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /** Listings of all companies of its searches. @default none */
  readonly listings?: readonly (WholeListing | PartialListing)[] | undefined
  /** Most companies of a search that its listing may say are gone. @default 2% */
  readonly maxGone?: QuarantineLimit | undefined
  /** Partitions that its workers have made, with files that are in place already. @default those of its journal */
  readonly work?: FinishedWork | undefined
  /** Commits nothing where the lake shows all that came: then pulls are not recorded either. @default false */
  readonly onlyRows?: boolean | undefined
  /** Stands in the names of the run's own files: several commits of the run may be under way. @default nothing */
  readonly attempt?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

export interface LoadSummary {
  readonly run: string
  /** The snapshot that shows the run; absent when there was nothing to commit. */
  readonly snapshot: SnapshotHead | undefined
  readonly partitions: readonly PartitionEntry[]
  readonly skipped: readonly { readonly source: string; readonly reason: string }[]
  /** Bad files that were left out; none without `skipBadFiles`. */
  readonly excluded: readonly LeftOut[]
  /** An earlier call had committed the run before it was stopped, with these pulls: nothing was loaded again. */
  readonly already?: { readonly pulls: readonly PullEntry[] }
  /** Companies whose figures were replaced by figures in another currency, as it was allowed. */
  readonly currencyChange?: CurrencyChange
  /** Companies that whole listings lack; absent where they lacked none. */
  readonly gone?: readonly GoneCompanies[]
  /** Pulls and syncs that did not get all that there is; absent where all came. */
  readonly missing?: readonly NotDelivered[]
  /** Why `lake.duckdb` or `lake.ducklake` was not written; absent where those that the lake is to have were. */
  readonly noViews?: string
}

export const skippedOf = (units: readonly SourceResult[]): LoadSummary['skipped'] =>
  units.flatMap((unit) => (unit.kind === 'skipped' ? [{ source: unit.source, reason: unit.reason }] : []))

export const leftOutOf = (units: readonly SourceResult[]): LoadSummary['excluded'] =>
  units.flatMap((unit) =>
    unit.kind === 'left-out' ? [{ source: unit.source, code: unit.code, reason: unit.reason }] : [],
  )

/** A line that was bad before may be bad again: it does not count, and without a good one its file stays as it is. */
const isReplayed = ({ source }: PartitionEntry): boolean => isReplay(source)

/** @throws {ToolkitError} QUARANTINE_LIMIT */
const checkQuarantine = (
  { lake, run }: SeenRun,
  partitions: readonly PartitionEntry[],
  limit: QuarantineLimit,
): void => {
  const counted = partitions.filter((partition) => !isReplayed(partition))
  const lines = counted.reduce((sum, { counts }) => sum + counts.lines, 0)
  const quarantined = counted.reduce((sum, { counts }) => sum + counts.quarantined, 0)
  if (withinLimit(limit, quarantined, lines)) return
  const excess = `${excessText(limit, quarantined, lines, 'lines are bad')} of --max-quarantined`
  throw new ToolkitError(
    'QUARANTINE_LIMIT',
    `Cannot commit run "${run}": ${excess}; ` + `see "firmlake quarantine list --lake ${lake} --run ${run}"`,
    { run, quarantined, lines, excess },
  )
}

/** The partitions of all loaded units, in their order, and within the bounds of names. */
const partitionsOf = ({ units, entries }: FinishedWork, names: NamesOfRun): readonly JournalEntry[] => {
  const byId = new Map(entries.map((entry) => [entry.partition.id, entry]))
  const found = units.flatMap((unit) =>
    unit.kind !== 'loaded'
      ? []
      : unit.partitions.map((id) => {
          const entry = byId.get(id)
          if (entry === undefined)
            throw new RangeError(`Cannot commit partition "${id}": the journal has none`)
          return names.bound(entry)
        }),
  )
  const loaded = new Set(
    found.flatMap(({ partition: { source, counts } }) =>
      counts.lines > counts.quarantined ? [source.sha256] : [],
    ),
  )
  return found.filter(({ partition }) => !isReplayed(partition) || loaded.has(partition.source.sha256))
}

/**
 * Commits what a run has loaded. May be called again and by several processes at once: one of them makes the snapshot.
 *
 * @param seen the run and its owner; the caller need not be that owner, but nobody must take the run over meanwhile
 * @throws {ToolkitError} QUARANTINE_LIMIT, CURRENCY_CHANGED (the run stays and can be resumed with a higher limit,
 *   with `changeCurrency`), and what the sink and the commit throw; nothing of the run is then visible
 */
export const commitLoaded = async (
  tools: CommitTools,
  seen: SeenRun,
  options: CommitOptions,
): Promise<LoadSummary> => {
  const { lake, run, number } = seen
  const plan = await planOf(lake, run)
  return inStage(
    { stage: 'commit', lake, run, pipeline: pipelineOf(plan), attempt: number },
    () => commitPlanned(tools, plan, seen, options),
    ({ snapshot, partitions }) => ({ committed: { snapshot, partitions } }),
  )
}

interface CommitTools {
  readonly loader: Loader
  readonly sink: SinkRun
}

const commitPlanned = async (
  { loader, sink }: CommitTools,
  plan: RunPlan,
  seen: SeenRun,
  {
    maxQuarantined,
    changeCurrency = false,
    onlyRows = false,
    attempt,
    signal,
    onEvent,
    ...options
  }: CommitOptions,
): Promise<LoadSummary> => {
  const { lake, run } = seen
  const { maxUnknownNames } = plan.limits
  const work = options.work ?? (await readFinishedWork(lake, run))
  if (work === undefined) throw new RangeError(`Cannot commit run "${run}": its work is not done`)
  const names = new NamesOfRun({ maxUnknownNames, listAllItems: sink.stagedRows === undefined })
  const finished = partitionsOf(work, names)
  const partitions = finished.map(({ partition }) => partition)
  const summary = { run, skipped: skippedOf(work.units), excluded: leftOutOf(work.units) }
  checkQuarantine(seen, partitions, maxQuarantined)
  const { pulls } = work
  const root = onlyRows ? await newestRoot(lake) : null
  const isEmpty = onlyRows && (await isWithoutNews({ lake, run, partitions, rows: loader.rows }, root))
  const gone = await goneIn({ lake, run, partitions, loader, sink }, options)
  // A listing without a new line may still say that a company is gone.
  if (isEmpty) await gone?.find(root)
  const nothing = onlyRows ? isEmpty && !gone?.hasFound : partitions.length === 0 && pulls.length === 0
  if (nothing) return { ...summary, snapshot: undefined, partitions: [], ...gone?.summary() }
  onEvent?.({ kind: 'committing', partitions: partitions.length })
  const guard = new CurrencyGuard({ lake, run, partitions, rows: loader.rows }, changeCurrency)
  await guard.check(await newestRoot(lake))
  if (!isEmpty) await gone?.find(await newestRoot(lake))
  const runFiles = partitions.length > 0 ? await dictionaryOf(finished, loader, sink, attempt) : []
  const placed = options.work !== undefined
  await sink.commit([...(placed ? [] : byInstant(partitions).flatMap(({ files }) => files)), ...runFiles])
  const outcome = await commitPartitions({
    ...{ lease: seen, pipeline: pipelineOf(plan), tool: TOOL, again: plan.again, maxUnknownNames },
    ...{ partitions, runFiles, pulls, now: () => new Date(), random: randomBytes, signal },
    take: plan.take,
    versions: (request) => loader.withSession((session) => listVersions({ lake, session })(request)),
    beforeTry: async (newest) => {
      checkProjection(lake, newest, plan)
      await guard.check(newest)
    },
    behind: async (newest) => [
      ...((await gone?.write(newest)) ?? []),
      ...(plan.again ? await writeBackIn({ lake, run, loader, sink }, newest, partitions) : []),
    ],
  })
  const dropped = new Set(outcome.dropped.map(({ id }) => id))
  const shown = new Map(outcome.kind === 'nothing' ? [] : outcome.shown.map(placeInOrder))
  const first = [...new Set(outcome.dropped.flatMap(sourcesOf).map(({ name }) => name))]
  return {
    ...summary,
    snapshot: outcome.kind === 'nothing' ? undefined : outcome.snapshot,
    partitions: partitions
      .filter(({ id }) => !dropped.has(id))
      .map((one) => ({ ...one, ...shown.get(one.id) })),
    skipped: [
      ...summary.skipped,
      ...first.map((source) => ({ source, reason: 'already loaded by a concurrent run' })),
    ],
    ...(guard.change && { currencyChange: guard.change }),
    ...gone?.summary(),
  }
}

/** The facts that a commit has found of a partition beside its rows. */
const placeInOrder = ({ id, asOf, older, olderThan }: CommittedPartition) =>
  [id, { asOf, ...(older !== undefined && { older, olderThan: olderThan ?? asOf }) }] as const

/** Finds companies that the listings of a run lack; its code is loaded only where there are listings. */
const goneIn = async (
  run: ConstructorParameters<typeof GoneInRun>[0],
  options: ConstructorParameters<typeof GoneInRun>[1],
): Promise<GoneInRun | undefined> =>
  options.listings?.length ? new (await import('../commit/mark-gone.ts')).GoneInRun(run, options) : undefined

/** Writes rows that were superseded by mistake; its code is loaded only where sources are loaded again. */
const writeBackIn = async (...again: Parameters<typeof writeBack>): ReturnType<typeof writeBack> =>
  (await import('../commit/mistaken-instants.ts')).writeBack(...again)

/** Whether the lake shows all that came. */
const isWithoutNews = async (...came: Parameters<typeof bringsNothing>): Promise<boolean> =>
  (await import('../commit/brings-nothing.ts')).bringsNothing(...came)

/** Writes the views of a lake after a run, whose tools are closed by then: both take much memory. */
export const withViews = async (lake: string, summary: LoadSummary): Promise<LoadSummary> => {
  const noViews = await refreshLakeFiles(lake)
  return { ...summary, ...(noViews !== undefined && { noViews }) }
}

/** The dictionary of all partitions, whichever attempt of the run has finished them. */
const dictionaryOf = async (
  finished: readonly JournalEntry[],
  loader: Loader,
  sink: SinkRun,
  attempt: string | undefined,
): Promise<readonly FileEntry[]> => {
  const seen = await seenItemsOf(finished, sink.stagedRows?.bind(sink))
  const name = attempt === undefined ? 'line_items' : `line_items.${attempt}`
  return (await loader.withRows(lineItemsOf(seen), (rows) => sink.write(name, 'line_items', rows))).files
}

/** A run in the snapshot that shows it. */
export interface RunInLake {
  readonly snapshot: SnapshotHead
  readonly partitions: readonly PartitionEntry[]
  /** One for each pull or sync among its jobs, in their order. */
  readonly pulls: readonly PullEntry[]
}

/** @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const readRunInLake = async (lake: string, run: string, number: number): Promise<RunInLake> => {
  const root = await readRoot(lake, number)
  const { partitions, pulls = [] } = await readAllListed(lake, root, mayHoldRun(run))
  return {
    snapshot: headOf(root),
    partitions: partitions.filter((one) => one.run === run),
    pulls: pulls.filter((one) => one.run === run),
  }
}

/**
 * The summary of a run that an earlier call had committed before it was stopped: nothing of it is loaded again.
 *
 * @param number of the snapshot that shows it
 * @throws {ToolkitError} SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED, RUN_NOT_RESUMABLE
 */
export const committedBefore = async (
  { lake, run }: Pick<RunScope, 'lake' | 'run'>,
  number: number,
  onEvent?: (event: RunEvent) => void,
): Promise<LoadSummary> => {
  // The process that committed it may have been stopped before it was done with the rest.
  await ensureRecord(lake, number)
  onEvent?.({ kind: 'already', run, snapshot: number })
  const { snapshot, partitions, pulls } = await readRunInLake(lake, run, number)
  const units = (await readFinishedWork(lake, run))?.units ?? []
  const lists = { partitions, skipped: skippedOf(units), excluded: leftOutOf(units) }
  return withViews(lake, { run, snapshot, ...lists, already: { pulls } })
}

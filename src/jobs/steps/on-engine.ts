/**
 * The jobs that load, each worked on by an engine on many machines: planned here, then handed over; what is reported is read
 * from the lake, so that whoever attaches to a run late reports the same.
 */

import { absoluteAddress } from '../../core/lake-address.ts'
import { recordedUnits } from '../../manifest/runs/units.ts'
import { CONVERT } from '../../options/convert.ts'
import type { Read } from '../../options/entry.ts'
import type {
  ConvertOptions,
  PullBatchFilesOptions,
  PullOptions,
  SyncOptions,
} from '../../options/interfaces.ts'
import { PULL, PULL_BATCH_FILES, SYNC } from '../../options/search.ts'
import type { QuarantineLimit } from '../../options/value-types.ts'
import { type LoadSummary, readRunInLake } from '../../run/commit-loaded.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import { type FactsOf, notResumable } from '../../run/opened-job.ts'
import type { BatchFilesJob, PullJob, SyncJob } from '../../run/run-plan.ts'
import type { ServiceCounters } from '../../source/service/service.ts'
import { batchesKind } from '../batch-files/batches-kind.ts'
import { type BatchFilesReport, batchSelection } from '../batch-files/pull-batch-files.ts'
import type { JobKind } from '../common/job-kind.ts'
import { lakeJob } from '../common/lake-job.ts'
import { measured } from '../common/load-job.ts'
import { NOTHING_LOADED, type RunReport } from '../common/run-report.ts'
import { askedByPull, type PullReport, searched } from '../pull/pull.ts'
import { currencyBefore, type Pulled, pullKind } from '../pull/pull-kind.ts'
import { syncSettings } from '../sync/find-changes.ts'
import type { SyncReport } from '../sync/sync.ts'
import { syncKind } from '../sync/sync-kind.ts'
import type { PlannedRun } from './plan-shared-run.ts'
import type { EngineOutcome, RunEngine } from './run-engine.ts'
import { planLoad } from './run-steps.ts'

/** How a job is handed to an engine. */
export interface OnEngine {
  readonly engine: RunEngine
  /** Stored bytes of the files of a unit. @default 64 MiB */
  readonly unitBytes?: number | undefined
  /** Requests a second of all workers together. */
  readonly maxRequestsPerSecond?: number | undefined
  /** Called when the run is planned, and each time units have been done since. */
  readonly onUnits?: ((progress: UnitProgress) => void) | undefined
}

/** How far a run is. */
interface UnitProgress {
  readonly run: string
  readonly units: number
  readonly done: number
  /** Whether it was begun before, by this command or another. */
  readonly attached: boolean
}

interface Handed {
  readonly planned: PlannedRun
  readonly summary: LoadSummary
  /** `undefined` where there was nothing to load. */
  readonly outcome: EngineOutcome | undefined
}

const PROGRESS_EVERY_MS = 2000

const limitText = (limit: QuarantineLimit): string =>
  limit.kind === 'count' ? String(limit.lines) : `${Number((limit.share * 100).toPrecision(12))}%`

/** Says how far a run is until it is stopped. */
const watchUnits = async (
  lake: string,
  { run, units, existing }: PlannedRun & { readonly run: string },
  onUnits: NonNullable<OnEngine['onUnits']>,
): Promise<() => void> => {
  let asking = false
  const say = async (): Promise<void> => {
    if (asking) return
    asking = true
    // The folder may be gone already; how far a run is must not end it.
    const done = await recordedUnits(lake, run).catch(() => new Set<number>())
    asking = false
    if (done.size > 0) onUnits({ run, units, done: done.size, attached: existing })
  }
  onUnits({ run, units, done: 0, attached: existing })
  const timer = setInterval(() => void say(), PROGRESS_EVERY_MS)
  return () => clearInterval(timer)
}

/** @param begin is given the run as soon as it is planned: what is needed of its folder has to be read by then */
const handOver = async (
  options: Parameters<typeof planLoad>[0] & Pick<RunOptions, 'maxQuarantined'>,
  { engine, unitBytes, maxRequestsPerSecond, onUnits }: OnEngine,
  begin: (run: string) => Promise<void> = async () => undefined,
): Promise<Handed> => {
  const { memoryBytes, signal, changeCurrency = false } = options
  const lake = absoluteAddress(options.lake)
  const planned = await planLoad({ ...options, lake, changeCurrency, unitBytes, maxRequestsPerSecond })
  const { run, phases, skipped } = planned
  if (run === null) return { planned, summary: { ...NOTHING_LOADED, skipped }, outcome: undefined }
  await begin(run)
  const stop = onUnits && (await watchUnits(lake, { ...planned, run }, onUnits))
  const { unitsAtOnce, maxWaitMs } = engine
  const limits = { maxQuarantined: limitText(options.maxQuarantined), changeCurrency, maxWaitMs }
  const request = { lake, run, phases, memoryBytes, unitsAtOnce, ...limits }
  const outcome = await engine.work(request, signal).finally(() => stop?.())
  const found = outcome.snapshot === null ? undefined : await readRunInLake(lake, run, outcome.snapshot)
  const { excluded, currencyChange } = outcome
  const summary: LoadSummary = {
    ...{ run, snapshot: found?.snapshot, partitions: found?.partitions ?? [], excluded },
    skipped: [...skipped, ...outcome.skipped],
    ...(currencyChange && { currencyChange }),
  }
  return { planned, summary, outcome }
}

type Files = Omit<ConvertOptions, 'from'> & { readonly from: readonly string[] }

/** `convert` of files, on an engine. @throws {ToolkitError} as `convert`, and as the engine */
export const convertOnEngine = (options: Files, on: OnEngine) =>
  lakeJob<Files, typeof CONVERT, RunReport>('convert', CONVERT, async (asked) => {
    const { loaded, report } = await measured(asked, (run) => handOver({ ...run, load: 'convert' }, on))
    return report(loaded.summary)
  })(options)

const sum = (a: ServiceCounters, b: ServiceCounters): ServiceCounters => ({
  requests: a.requests + b.requests,
  retries: a.retries + b.retries,
  throttled: a.throttled + b.throttled,
  bytes: a.bytes + b.bytes,
})

type AskedSearch =
  | ({ readonly load: 'pull' } & Read<PullOptions, typeof PULL>)
  | ({ readonly load: 'sync' } & Read<SyncOptions, typeof SYNC>)

/** A pull or a sync: what tells what it has brought is read before the commit removes it. */
const searchOn = async <J extends PullJob | SyncJob, Facts extends Pulled>(
  kind: JobKind<J, Facts>,
  job: J,
  options: AskedSearch,
  on: OnEngine,
) => {
  const { lake, from } = options
  const before = await currencyBefore(job, options)
  let factsOf: FactsOf<Facts> | undefined
  const { loaded, report } = await measured(options, (run) =>
    handOver(run, on, async (id) => {
      factsOf = await kind.facts?.({ lake, run: id }, job)
    }),
  )
  const { summary, outcome } = loaded
  const found = await readRunInLake(lake, summary.run, summary.snapshot?.snapshot ?? 0)
  const pulled = factsOf?.(found.partitions, found.pulls[0])
  if (pulled === undefined) throw notResumable(summary.run, 'its snapshot has no pull')
  const { missing } = pulled
  const counters = outcome ? sum(from.counters(), outcome.requests) : from.counters()
  return {
    report: { ...report(summary), ...(missing && { missing: [missing] }) },
    pulled,
    more: { counters, ...before },
  }
}

/** `pull`, on an engine. @throws {ToolkitError} as `pull`, and as the engine */
export const pullOnEngine = (options: PullOptions, on: OnEngine) =>
  lakeJob<PullOptions, typeof PULL, PullReport>('pull', PULL, async (asked) => {
    const job: PullJob = { kind: 'pull', url: asked.from.url, ...askedByPull(asked) }
    const { report, pulled, more } = await searchOn(pullKind, job, { ...asked, load: 'pull' }, on)
    const { entry, plan, windows } = pulled
    return { ...report, pull: { ...more, entry, plan, windows } }
  })(options)

/** `sync`, on an engine. @throws {ToolkitError} as `sync`, and as the engine */
export const syncOnEngine = (options: SyncOptions, on: OnEngine) =>
  lakeJob<SyncOptions, typeof SYNC, SyncReport>('sync', SYNC, async (asked) => {
    const job: SyncJob = { kind: 'sync', url: asked.from.url, ...syncSettings(searched(asked)) }
    const { report, pulled, more } = await searchOn(syncKind, job, { ...asked, load: 'sync' }, on)
    const { entry, plan, findings, fetched } = pulled
    return { ...report, sync: { ...more, entry, plan, findings, fetched } }
  })(options)

/** `pullBatchFiles`, on an engine. @throws {ToolkitError} as `pullBatchFiles`, and as the engine */
export const batchFilesOnEngine = (options: PullBatchFilesOptions, on: OnEngine) =>
  lakeJob<PullBatchFilesOptions, typeof PULL_BATCH_FILES, BatchFilesReport>(
    'pullBatchFiles',
    PULL_BATCH_FILES,
    async (asked) => {
      const { from, again = false } = asked
      const { service } = from
      const job: BatchFilesJob = { kind: 'batches', url: service.url, selection: batchSelection(from) }
      const { held = [], unnameable = [] } = await batchesKind.prepare(
        ...([job, { ...asked, service: async () => service }, again] as const),
      )
      const { loaded, report } = await measured(asked, (run) => handOver({ ...run, load: 'batches' }, on))
      const { planned, summary } = loaded
      // The files that the lake holds are named apart.
      const skipped = summary.skipped.slice(planned.skipped.length)
      return { ...report({ ...summary, skipped }), run: planned.run, held, unnameable }
    },
  )(options)

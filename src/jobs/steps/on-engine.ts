/**
 * The jobs that load, each worked on by an engine on many machines: planned here, then handed over; what is reported is read
 * from the lake, so that whoever attaches to a run late reports the same.
 */

import { absoluteAddress } from '../../core/lake-address.ts'
import { DEFAULT_MEMORY_BYTES } from '../../core/memory-shares.ts'
import type { ConvertOptions, LoadOptions } from '../../options/interfaces.ts'
import type { QuarantineLimit } from '../../options/value-types.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { ServiceCounters } from '../../source/service/service.ts'
import type { BatchFilesReport, PullBatchFilesOptions } from '../batch-files/pull-batch-files.ts'
import { withTargets } from '../common/lake-job.ts'
import { allDelivered, measured, settingsOf } from '../common/load-job.ts'
import { NOTHING_LOADED, type RunReport } from '../common/run-report.ts'
import type { PullOptions, PullReport, PullSummary } from '../pull/pull.ts'
import type { SyncOptions, SyncReport } from '../sync/sync.ts'
import type { PlannedRun } from './plan-shared-run.ts'
import type { EngineOutcome, RunEngine } from './run-engine.ts'
import { type PlanRunOptions, planLoad, type RunLoad } from './run-steps.ts'

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
  const { recordedUnits } = await import('../../manifest/runs/units.ts')
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
const handOver = async <Done>(
  options: LoadOptions<Done> & RunLoad & Pick<PlanRunOptions, 'again' | 'skipBadFiles'>,
  { engine, unitBytes, maxRequestsPerSecond, onUnits }: OnEngine,
  begin: (run: string) => Promise<void> = async () => undefined,
): Promise<Handed> => {
  const { memoryBytes = DEFAULT_MEMORY_BYTES, signal, changeCurrency = false } = options
  const lake = absoluteAddress(options.lake)
  const own = { lake, memoryBytes, changeCurrency, unitBytes, maxRequestsPerSecond }
  const planned = await planLoad({ ...options, ...own })
  const { run, phases, skipped } = planned
  if (run === null) return { planned, summary: { ...NOTHING_LOADED, skipped }, outcome: undefined }
  await begin(run)
  const stop = onUnits && (await watchUnits(lake, { ...planned, run }, onUnits))
  const { unitsAtOnce, maxWaitMs } = engine
  const limits = { maxQuarantined: limitText(settingsOf(options).maxQuarantined), changeCurrency, maxWaitMs }
  const request = { lake, run, phases, memoryBytes, unitsAtOnce, ...limits }
  const outcome = await engine.work(request, signal).finally(() => stop?.())
  const { readRunInLake } = await import('../../run/commit-loaded.ts')
  const found = outcome.snapshot === null ? undefined : await readRunInLake(lake, run, outcome.snapshot)
  const { excluded, currencyChange } = outcome
  const summary: LoadSummary = {
    ...{ run, snapshot: found?.snapshot, partitions: found?.partitions ?? [], excluded },
    skipped: [...skipped, ...outcome.skipped],
    ...(currencyChange && { currencyChange }),
  }
  return { planned, summary, outcome }
}

/** `convert` of files, on an engine. @throws {ToolkitError} as `convert`, and as the engine */
export const convertOnEngine = (
  options: Omit<ConvertOptions, 'from'> & { readonly from: readonly string[] },
  on: OnEngine,
) =>
  withTargets<RunReport>(options, async () => {
    const { loaded, report } = await measured(settingsOf(options), () =>
      handOver({ ...options, load: 'convert' }, on),
    )
    return report(loaded.summary)
  })

const sum = (a: ServiceCounters, b: ServiceCounters): ServiceCounters => ({
  requests: a.requests + b.requests,
  retries: a.retries + b.retries,
  throttled: a.throttled + b.throttled,
  bytes: a.bytes + b.bytes,
})

type Planned = Pick<PullSummary, 'plan' | 'currencyBefore'>

/** Shared by a pull and a sync: their plan is read before the commit removes it, their entry after it. */
const pullOn = async <Done>(
  options: LoadOptions<Done> & Extract<RunLoad, { load: 'pull' | 'sync' }>,
  on: OnEngine,
  read: (run: string) => Promise<void>,
) => {
  const { askedByPull, currencyBefore } = await import('../pull/pull.ts')
  const { readWindows } = await import('../pull/plan-pull.ts')
  const { notResumable } = await import('../../run/opened-job.ts')
  const { readRunInLake } = await import('../../run/commit-loaded.ts')
  const { lake, from } = options
  const content = options.load === 'pull' ? options.content : 'companies'
  const before = await currencyBefore(askedByPull({ ...options, content }), options)
  let plan: Planned['plan'] | undefined
  const { loaded, report } = await measured(settingsOf(options), () =>
    handOver(options, on, async (run) => {
      plan = await readWindows({ lake, run })
      if (plan === undefined) throw notResumable(run, 'it has no windows')
      await read(run)
    }),
  )
  const { summary, outcome } = loaded
  const found = await readRunInLake(lake, summary.run, summary.snapshot?.snapshot ?? 0)
  const [entry] = found.pulls
  if (plan === undefined || entry === undefined) throw notResumable(summary.run, 'its snapshot has no pull')
  const counters = outcome ? sum(from.counters(), outcome.requests) : from.counters()
  return { report: report(summary), found, entry, pulled: { plan, counters, ...before }, content }
}

/** `pull`, on an engine. @throws {ToolkitError} as `pull`, and as the engine */
export const pullOnEngine = (options: PullOptions, on: OnEngine) => {
  const { content } = options
  const finished = withTargets<PullReport>(options, async () => {
    const done = await pullOn({ ...options, load: 'pull' }, on, async () => undefined)
    const { pulledWindows } = await import('../pull/open-windows.ts')
    const { found, entry, pulled } = done
    const { missingFrom } = await import('../pull/missing-records.ts')
    const missing = missingFrom(entry, options, pulled.plan)
    return {
      ...done.report,
      ...(missing && { missing: [missing] }),
      pull: { ...pulled, entry, windows: pulledWindows(found.partitions, content, pulled.plan) },
    }
  })
  return finished.then((one) => allDelivered(one, [one]))
}

/** `sync`, on an engine. @throws {ToolkitError} as `sync`, and as the engine */
export const syncOnEngine = (options: SyncOptions, on: OnEngine) => {
  const { lake } = options
  const done = withTargets<SyncReport>(options, async () => {
    const { readFindings } = await import('../sync/find-changes.ts')
    const { notResumable } = await import('../../run/opened-job.ts')
    let findings: SyncReport['sync']['findings'] | undefined
    const { report, found, entry, pulled } = await pullOn({ ...options, load: 'sync' }, on, async (run) => {
      findings = await readFindings({ lake, run })
    })
    if (findings === undefined) throw notResumable(report.run, 'it has no findings')
    const { receivedOf } = await import('../pull/open-windows.ts')
    const { notDelivered } = await import('../../run/opened-job.ts')
    const fetched = receivedOf(found.partitions)
    const { missingFrom } = await import('../pull/missing-records.ts')
    const missing =
      notDelivered(findings.new.length + findings.changed.length, fetched) ??
      missingFrom(entry, options, pulled.plan)
    return {
      ...report,
      ...(missing && { missing: [missing] }),
      sync: { ...pulled, entry, findings, fetched },
    }
  })
  return done.then((one) => allDelivered(one, [one]))
}

/** `pullBatchFiles`, on an engine. @throws {ToolkitError} as `pullBatchFiles`, and as the engine */
export const batchFilesOnEngine = (options: PullBatchFilesOptions, on: OnEngine) => {
  const { from, again = false } = options
  return withTargets<BatchFilesReport>(options, async () => {
    const { batchSelection, chooseListed } = await import('../batch-files/pull-batch-files.ts')
    const { held, unnameable } = await chooseListed(from.service, batchSelection(from), again, options)
    const { loaded, report } = await measured(settingsOf(options), () =>
      handOver({ ...options, load: 'batches' }, on),
    )
    const { planned, summary } = loaded
    // The files that the lake holds are named apart.
    const skipped = summary.skipped.slice(planned.skipped.length)
    return { ...report({ ...summary, skipped }), run: planned.run, held, unnameable }
  })
}

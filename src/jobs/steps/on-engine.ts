/**
 * The jobs that load, each worked on by an engine on many machines: planned here, then handed over; what is reported is read
 * from the lake, so that whoever attaches to a run late reports the same.
 */

import { absoluteAddress } from '../../core/lake-address.ts'
import { CONVERT } from '../../options/convert.ts'
import type { Read } from '../../options/entry.ts'
import type {
  ConvertOptions,
  PullBatchFilesOptions,
  PullOptions,
  SyncOptions,
} from '../../options/interfaces.ts'
import { MAX_GONE } from '../../options/lake-jobs.ts'
import { PULL, PULL_BATCH_FILES, SYNC } from '../../options/search.ts'
import type { QuarantineLimit } from '../../options/value-types.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import type { ServiceCounters } from '../../source/service/service.ts'
import type { BatchFilesReport } from '../batch-files/pull-batch-files.ts'
import { lakeJob } from '../common/lake-job.ts'
import { measured } from '../common/load-job.ts'
import { NOTHING_LOADED, type RunReport } from '../common/run-report.ts'
import type { PullReport, PullSummary } from '../pull/pull.ts'
import type { SyncReport } from '../sync/sync.ts'
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
const handOver = async (
  options: Parameters<typeof planLoad>[0] & Pick<RunOptions, 'maxQuarantined' | 'maxGone'>,
  { engine, unitBytes, maxRequestsPerSecond, onUnits }: OnEngine,
  begin: (run: string) => Promise<void> = async () => undefined,
): Promise<Handed> => {
  const { memoryBytes, signal, changeCurrency = false, maxGone = MAX_GONE.default.value } = options
  const lake = absoluteAddress(options.lake)
  const planned = await planLoad({ ...options, lake, changeCurrency, unitBytes, maxRequestsPerSecond })
  const { run, phases, skipped } = planned
  if (run === null) return { planned, summary: { ...NOTHING_LOADED, skipped }, outcome: undefined }
  await begin(run)
  const stop = onUnits && (await watchUnits(lake, { ...planned, run }, onUnits))
  const { unitsAtOnce, maxWaitMs } = engine
  const request = {
    ...{ lake, run, phases, memoryBytes, unitsAtOnce, maxWaitMs, changeCurrency },
    ...{ maxQuarantined: limitText(options.maxQuarantined), maxGone: limitText(maxGone) },
  }
  const outcome = await engine.work(request, signal).finally(() => stop?.())
  const { readRunInLake } = await import('../../run/commit-loaded.ts')
  const found = outcome.snapshot === null ? undefined : await readRunInLake(lake, run, outcome.snapshot)
  const { excluded, currencyChange, gone } = outcome
  const summary: LoadSummary = {
    ...{ run, snapshot: found?.snapshot, partitions: found?.partitions ?? [], excluded },
    skipped: [...skipped, ...outcome.skipped],
    ...(currencyChange && { currencyChange }),
    ...(gone && { gone: gone.map((one) => ({ search: JSON.stringify(found?.pulls[0]?.search), ...one })) }),
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

type Planned = Pick<PullSummary, 'plan' | 'currencyBefore'>

type AskedPull = { readonly load: 'pull' } & Read<PullOptions, typeof PULL>
type AskedSync = { readonly load: 'sync' } & Read<SyncOptions, typeof SYNC>

/** Shared by a pull and a sync: their plan is read before the commit removes it, their entry after it. */
const pullOn = async (
  options: AskedPull | AskedSync,
  on: OnEngine,
  read: (run: string) => Promise<void> = async () => undefined,
) => {
  const { currencyBefore, searched } = await import('../pull/pull.ts')
  const { readWindows } = await import('../pull/plan-pull.ts')
  const { notResumable } = await import('../../run/opened-job.ts')
  const { readRunInLake } = await import('../../run/commit-loaded.ts')
  const { lake, from } = options
  const content = options.load === 'pull' ? options.content : 'companies'
  const before = await currencyBefore({ content, ...searched(options) }, options)
  let plan: Planned['plan'] | undefined
  const { loaded, report } = await measured(options, (run) =>
    handOver(run, on, async (id) => {
      plan = await readWindows({ lake, run: id })
      if (plan === undefined) throw notResumable(id, 'it has no windows')
      await read(id)
    }),
  )
  const { summary, outcome } = loaded
  const found = await readRunInLake(lake, summary.run, summary.snapshot?.snapshot ?? 0)
  const [entry] = found.pulls
  if (plan === undefined || entry === undefined) throw notResumable(summary.run, 'its snapshot has no pull')
  const counters = outcome ? sum(from.counters(), outcome.requests) : from.counters()
  return { report: report(summary), found, entry, pulled: { plan, counters, ...before } }
}

/** `pull`, on an engine. @throws {ToolkitError} as `pull`, and as the engine */
export const pullOnEngine = (options: PullOptions, on: OnEngine) =>
  lakeJob<PullOptions, typeof PULL, PullReport>('pull', PULL, async (asked) => {
    const { report, found, entry, pulled } = await pullOn({ ...asked, load: 'pull' }, on)
    const { pulledWindows } = await import('../pull/open-windows.ts')
    const { missingFrom } = await import('../pull/missing-records.ts')
    const missing = missingFrom(entry, asked, pulled.plan)
    const windows = pulledWindows(found.partitions, asked.content, pulled.plan)
    return { ...report, ...(missing && { missing: [missing] }), pull: { ...pulled, entry, windows } }
  })(options)

/** `sync`, on an engine. @throws {ToolkitError} as `sync`, and as the engine */
export const syncOnEngine = (options: SyncOptions, on: OnEngine) =>
  lakeJob<SyncOptions, typeof SYNC, SyncReport>('sync', SYNC, async (asked) => {
    const { lake } = asked
    const { readFindings } = await import('../sync/find-changes.ts')
    const { notResumable } = await import('../../run/opened-job.ts')
    let findings: SyncReport['sync']['findings'] | undefined
    const { report, found, entry, pulled } = await pullOn({ ...asked, load: 'sync' }, on, async (run) => {
      findings = await readFindings({ lake, run })
    })
    if (findings === undefined) throw notResumable(report.run, 'it has no findings')
    const { receivedOf } = await import('../pull/open-windows.ts')
    const { notDelivered } = await import('../../run/opened-job.ts')
    const fetched = receivedOf(found.partitions)
    const { missingFrom } = await import('../pull/missing-records.ts')
    const missing =
      notDelivered(findings.new.length + findings.changed.length, fetched) ??
      missingFrom(entry, asked, pulled.plan)
    return {
      ...report,
      ...(missing && { missing: [missing] }),
      sync: { ...pulled, entry, findings, fetched },
    }
  })(options)

/** `pullBatchFiles`, on an engine. @throws {ToolkitError} as `pullBatchFiles`, and as the engine */
export const batchFilesOnEngine = (options: PullBatchFilesOptions, on: OnEngine) =>
  lakeJob<PullBatchFilesOptions, typeof PULL_BATCH_FILES, BatchFilesReport>(
    'pullBatchFiles',
    PULL_BATCH_FILES,
    async (asked) => {
      const { from, again = false } = asked
      const { batchSelection, chooseListed } = await import('../batch-files/pull-batch-files.ts')
      const { held, unnameable } = await chooseListed(from.service, batchSelection(from), again, asked)
      const { loaded, report } = await measured(asked, (run) => handOver({ ...run, load: 'batches' }, on))
      const { planned, summary } = loaded
      // The files that the lake holds are named apart.
      const skipped = summary.skipped.slice(planned.skipped.length)
      return { ...report({ ...summary, skipped }), run: planned.run, held, unnameable }
    },
  )(options)

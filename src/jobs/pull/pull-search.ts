/** Puts the parts of a pull together: the service → windows on the disk → load → the Parquet lake. */

import type { PullEntry } from '../../core/partition.ts'
import { newestPulls, pullsIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import type { JobScope, OpenedJob } from '../../run/opened-job.ts'
import type { PullJob, RunPlan } from '../../run/run-plan.ts'
import { withRun } from '../../run/with-run.ts'
import type { Service, ServiceCounters } from '../../source/service/service.ts'
import { listingOf } from './ask-listed.ts'
import { checkPullCurrency, otherCurrency } from './check-pull-currency.ts'
import { openPull, planOfRun, planPull, windowsText } from './plan-pull.ts'
import type { PullEvent, PullPlan } from './pull-plan.ts'
import { checkSettings, type PullSettings, rememberParameters } from './pull-settings.ts'
import { type PulledWindow, pulledWindows } from './pulled-windows.ts'

export interface PullRunOptions extends RunOptions {
  readonly service: Service
  /** Windows pulled side by side. */
  readonly concurrency: number
  readonly onPull?: ((event: PullEvent) => void) | undefined
}

export interface PullSummary {
  readonly summary: LoadSummary
  /** Of the last pull of this search, where this one is in another. */
  readonly currencyBefore?: string
  readonly entry: PullEntry
  readonly plan: PullPlan
  readonly windows: readonly PulledWindow[]
  readonly counters: ServiceCounters
}

/** Starts or resumes the run of a pull, and works on it. `url` is where a resumed run finds the service. */
export const pullSearch = async (
  url: string,
  settings: PullSettings,
  options: PullRunOptions,
): Promise<PullSummary> => {
  const service = rememberParameters(options.service)
  // Before a run, and possibly a lake, is made for a search that is impossible.
  await checkSettings(service, settings, options.signal)
  const before = await currencyBefore(settings, options)
  const job: PullJob = { kind: 'pull', url, ...settings }
  const plan: RunPlan = { jobs: [job], again: false, limits: defaultLimits(options) }
  const { lake, mode, signal } = options
  const files = async () => {
    const planned = { nowMs: () => performance.now(), signal }
    const windows = await planPull(service, settings, await pullsIfAny(lake), planned)
    return new Map([windowsText(windows)])
  }
  return withRun({ lake, plan, mode, files, taking: options }, async (run) => {
    const opened = await openPullJob(run, job, { ...options, service })
    const summary = await loadIntoLake(run, [opened], options)
    const { plan: windows } = opened
    const counters = service.counters()
    const { entry, windows: pulled } = pulledBy(summary, opened, settings.content)
    return { summary, entry, plan: windows, windows: pulled, counters, ...before }
  })
}

/** What came of a pull: of a run that was committed before, as the lake has it, for its windows may stand on another machine. */
export const pulledBy = (
  { already, partitions }: LoadSummary,
  { entry, windows, plan }: OpenedPull,
  content: PullSettings['content'],
  place = 0,
): Pick<PullSummary, 'entry' | 'windows'> => {
  const recorded = already?.pulls[place]
  return recorded === undefined
    ? { entry: entry(), windows: windows() }
    : { entry: recorded, windows: pulledWindows(partitions, content, plan) }
}

/** The currency that a search was pulled in before, where it is another. @throws {ToolkitError} CURRENCY_CHANGED */
export const currencyBefore = async (
  settings: PullSettings,
  { lake, changeCurrency }: Pick<RunOptions, 'lake' | 'changeCurrency'>,
): Promise<{ readonly currencyBefore?: string }> => {
  const snapshot = await pullsIfAny(lake)
  if (!changeCurrency) checkPullCurrency(snapshot, settings)
  const other = otherCurrency(snapshot, settings)
  return other === undefined ? {} : { currencyBefore: other }
}

export interface OpenedPull extends OpenedJob {
  readonly plan: PullPlan
  /** What the manifest keeps, as it stands. */
  readonly entry: () => PullEntry
  /** What came so far. */
  readonly windows: () => readonly PulledWindow[]
}

/** Plans the windows of a pull, or takes those of an earlier attempt; they are pulled when they are asked for. */
export const openPullJob = async (
  run: JobScope,
  settings: PullSettings,
  { service, concurrency, signal, onPull }: Omit<PullRunOptions, 'lake' | 'limit'>,
): Promise<OpenedPull> => {
  const shared = { nowMs: () => performance.now(), concurrency, signal, onEvent: onPull }
  const plan = await planOfRun(run, async () =>
    planPull(service, settings, await newestPulls(run.lake), shared),
  )
  run.keep()
  onPull?.({ kind: 'planned', plan, resumed: run.number > 1 })
  const { sources, checkpoints, entry } = await openPull(service, run, settings, plan, shared)
  return {
    sources,
    plan,
    entry,
    pulls: () => [entry()],
    listing: () => listingOf(service, settings, entry(), { signal }),
    windows: () =>
      checkpoints().map((checkpoint, at) => ({
        name: sources[at]?.name ?? '',
        planned: plan.windows[at]?.announced ?? 0,
        announced: checkpoint?.announced ?? 0,
        received: checkpoint?.records ?? 0,
        pages: checkpoint?.pages ?? 0,
      })),
  }
}

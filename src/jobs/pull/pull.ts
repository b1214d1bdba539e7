/** `pull`: what a search finds at the service into a lake, in one call. */

import type { PullEntry } from '../../core/partition.ts'
import { pullsIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { Read } from '../../options/entry.ts'
import type { PullOptions } from '../../options/interfaces.ts'
import { PULL } from '../../options/search.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import type { JobScope, OpenedJob } from '../../run/opened-job.ts'
import type { PullJob, RunPlan, SyncJob } from '../../run/run-plan.ts'
import { type RunScope, withRun } from '../../run/with-run.ts'
import type { Service, ServiceCounters } from '../../source/service/service.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { lakeJob } from '../common/lake-job.ts'
import { measured } from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import { listingOf } from './ask-listed.ts'
import { missingFrom } from './missing-records.ts'
import { openPull, type PulledWindow, pulledWindows } from './open-windows.ts'
import { planPull, windowsOfRun, windowsText } from './plan-pull.ts'
import {
  checkPullCurrency,
  checkSettings,
  otherCurrency,
  type PullPlan,
  type PullSettings,
  rememberParameters,
} from './pull-settings.ts'
import { exactSearch } from './search.ts'

/** The report of a pull. */
export interface PullReport extends RunReport {
  /** The search, its announced and received records; its windows; the requests it took. */
  readonly pull: Omit<PullSummary, 'summary'>
}

/**
 * Pulls what a search finds, page by page, into a lake, all in one commit; a search too large for one cursor chain is cut
 * into windows first. Then published tables and sinks are updated.
 *
 * Stopped at any point, killed too, the lake is as it was; the same call resumes at its last page. Of a pull that was killed behind
 * its commit it loads nothing again (`already`).
 *
 * @returns what the run did (`pull.entry.received` records of `pull.entry.announced`), and what its targets received
 * @throws {ToolkitError} `SEARCH_MISSING`, `PARAMETER_REFUSED`, `VALUES_REFUSED`, `CURRENCY_CHANGED` and other refusals of
 *   the service; `TOKEN_REFUSED`, `SERVICE_BUSY` (later), `SERVICE_FAILED`, `PLAN_IMPOSSIBLE`; `QUARANTINE_LIMIT`,
 *   `DISK_FULL`, `USAGE`, `INTERRUPTED`; what `updateTargets` throws, after the commit; `COMPANIES_MISSING`, after that, where the
 *   service counts records that it does not give: more than ten, and more than a thousandth
 * @example
 * import { pull, createService } from 'firmlake'
 *
 * const { snapshot, records, pull: pulled } = await pull({
 *   from: createService({ url: 'https://service.example.com', token: 'token-of-my-service' }),
 *   lake: './lake',
 *   content: 'companies',
 *   search: { CountryCode: ['SE'] },
 *   since: 'last',
 * })
 * console.log(snapshot, records, pulled.entry.announced) // 1 2 2
 */
export const pull: (options: PullOptions) => Promise<PullReport & TargetsSummary> = lakeJob(
  'pull',
  PULL,
  async (options) => {
    const { loaded, report } = await measured(options, (run) =>
      pullSearch(run.from.url, askedByPull(run), { ...run, service: run.from }),
    )
    const { summary, ...pulled } = loaded
    return { ...report(summary), pull: pulled }
  },
)

type Asked = Read<PullOptions, typeof PULL>

/** The part of a pull's options that its run is known by; a default is left out where a run that was started without it is resumed. */
export const askedByPull = ({
  content,
  since,
  until,
  cap,
  pageSize,
  ...options
}: Pick<Asked, 'content' | 'since' | 'until' | 'cap' | 'pageSize' | keyof Searched>): PullSettings => ({
  ...{ content, since, until, cap, pageSize },
  ...searched(options),
})

type Searched = Pick<Asked, 'search' | 'currency' | 'by' | 'closeGap'>

/** The part that a pull and a sync share. */
export const searched = ({ search, currency, by, closeGap }: Searched) => ({
  ...{ search: exactSearch(search), currency, by },
  ...(!closeGap && { closeGap }),
})

export interface PullRunOptions extends RunOptions, Pick<Asked, 'concurrency' | 'onPull'> {
  readonly service: Service
}

export interface PullSummary {
  readonly summary: LoadSummary
  /** The currency of the last pull of this search, if this one is in another. */
  readonly currencyBefore?: string
  readonly entry: PullEntry
  readonly plan: PullPlan
  readonly windows: readonly PulledWindow[]
  readonly counters: ServiceCounters
}

/** Starts or resumes the run of a search, whose windows are planned when it begins, and loads it. @param open its sources */
export const runSearch = async <Opened extends OpenedJob>(
  job: PullJob | SyncJob,
  options: Omit<PullRunOptions, 'onPull'>,
  open: (run: RunScope, service: Service) => Promise<Opened>,
) => {
  const { lake, mode, signal } = options
  const service = rememberParameters(options.service)
  // Before a run, and possibly a lake, is made for a search that is impossible.
  await checkSettings(service, job, signal)
  const before = await currencyBefore(job, options)
  const plan: RunPlan = { jobs: [job], again: false, limits: defaultLimits(options) }
  const files = async () =>
    new Map([windowsText(await planPull(service, job, await pullsIfAny(lake), { signal }))])
  return withRun({ lake, plan, mode, files, taking: options }, async (run) => {
    const opened = await open(run, service)
    const summary = await loadIntoLake(run, [opened], options)
    return { opened, summary, counters: service.counters(), ...before }
  })
}

/** Starts or resumes the run of a pull, and works on it. `url` is where a resumed run finds the service. */
export const pullSearch = async (
  url: string,
  settings: PullSettings,
  options: PullRunOptions,
): Promise<PullSummary> => {
  const job: PullJob = { kind: 'pull', url, ...settings }
  const { opened, ...done } = await runSearch(job, options, (run, service) =>
    openPullJob(run, job, { ...options, service }),
  )
  return { ...done, plan: opened.plan, ...pulledBy(done.summary, opened, settings.content) }
}

/**
 * The result of a pull: for a run that was committed before, as the lake has it, for its windows may stand on
 * another machine.
 */
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
  settings: Pick<PullSettings, 'content' | 'search' | 'currency'>,
  { lake, changeCurrency }: Pick<RunOptions, 'lake' | 'changeCurrency'>,
): Promise<{ readonly currencyBefore?: string }> => {
  const snapshot = await pullsIfAny(lake)
  if (!changeCurrency) checkPullCurrency(snapshot, settings)
  const other = otherCurrency(snapshot, settings)
  return other === undefined ? {} : { currencyBefore: other }
}

export interface OpenedPull extends OpenedJob {
  readonly plan: PullPlan
  /** The entry of the manifest, as it stands. */
  readonly entry: () => PullEntry
  /** The windows that came so far. */
  readonly windows: () => readonly PulledWindow[]
}

/** Opens the windows that the run was begun with; they are pulled when they are asked for. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const openPullJob = async (
  run: JobScope,
  settings: PullSettings,
  { service, concurrency, signal, onPull }: Omit<PullRunOptions, 'lake' | 'limit'>,
): Promise<OpenedPull> => {
  const shared = { concurrency, signal, onEvent: onPull }
  const plan = await windowsOfRun(run)
  run.keep()
  onPull?.({ kind: 'planned', plan, resumed: run.number > 1 })
  const { sources, checkpoints, entry } = await openPull(service, run, settings, plan, shared)
  return {
    sources,
    plan,
    entry,
    pulls: () => [entry()],
    listing: () =>
      listingOf({ origin: service.origin, open: async () => service }, settings, entry(), { signal }),
    notDelivered: (before) => missingFrom(before?.pull ?? entry(), settings, plan),
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

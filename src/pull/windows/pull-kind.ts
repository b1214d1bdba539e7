/** A pull as a kind of job: its windows are planned before there is a run, and are the sources and the units of it. */

import type { JobOfRun } from '../../manifest/runs/run-files.ts'
import type { WorkUnit } from '../../manifest/runs/units.ts'
import { pullsIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { CutJob, Driver, JobKind, KindOptions, PartOfJob, PreparedJob } from '../../run/job-kind.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import type { FactsOf, PullFacts } from '../../run/opened-job.ts'
import type { PullJob, SyncJob } from '../../run/run-plan.ts'
import { parseAddress } from '../../source/service/address.ts'
import type { Service, ServiceCounters } from '../../source/service/service.ts'
import { type AskedService, listingOf } from './ask-listed.ts'
import { missingFrom } from './missing-records.ts'
import { openPull, type PulledWindow, pullEntry, pulledWindows, windowsOf } from './open-windows.ts'
import { planPull, windowsOfRun, windowsText } from './plan-pull.ts'
import {
  checkPullCurrency,
  checkSettings,
  otherCurrency,
  type PullPlan,
  type PullSettings,
  rememberParameters,
} from './pull-settings.ts'
import type { RunWindow } from './window-sources.ts'

/** The outcome of a pull or a sync. */
export interface Pulled extends PullFacts {
  readonly plan: PullPlan
  /** The job's windows in the plan's order; none of a sync, whose windows are lists of companies. */
  readonly windows: readonly PulledWindow[]
}

/** The currency that a search was pulled in before, where it is another. @throws {ToolkitError} CURRENCY_CHANGED */
export const currencyBefore = async (
  settings: Pick<PullSettings, 'content' | 'search' | 'currency'>,
  { lake, changeCurrency }: Pick<KindOptions, 'lake' | 'changeCurrency'>,
): Promise<{ readonly currencyBefore?: string }> => {
  const snapshot = await pullsIfAny(lake)
  if (!changeCurrency) checkPullCurrency(snapshot, settings)
  const other = otherCurrency(snapshot, settings)
  return other === undefined ? {} : { currencyBefore: other }
}

const phaseOf = ({ growing, closing }: RunWindow): number => (closing ? 2 : growing ? 1 : 0)

/** A window is a unit; those of a later phase stand behind the others. */
export const unitsOfWindows = (windows: readonly RunWindow[]): readonly WorkUnit[] =>
  windows
    .map((window, at) => ({ phase: phaseOf(window), job: 0, sources: [{ name: window.name, at }] }))
    .sort((a, b) => a.phase - b.phase)

/** Checks a search before there is a run, and plans its windows for one. @param cut its units, by its windows */
export const prepareSearch = async <J extends PullJob | SyncJob>(
  job: J,
  options: KindOptions,
  cut: (service: Service, windows: PullPlan) => Promise<Pick<CutJob, 'units' | 'strings'>>,
): Promise<PreparedJob> => {
  const { lake, signal } = options
  const service = await options.service(job.url)
  await checkSettings(service, job, signal)
  const before = await currencyBefore(job, options)
  const plan = async (): Promise<PullPlan> => planPull(service, job, await pullsIfAny(lake), { signal })
  return {
    ...before,
    strings: async (place) => [windowsText(await plan(), place)],
    cut: async () => {
      const windows = await plan()
      const { units, strings } = await cut(service, windows)
      return { units, strings: [windowsText(windows), ...strings], skipped: [] }
    },
  }
}

/** The places of a part's sources among all of the job. */
export const placesOfPart = (part: PartOfJob | undefined): readonly number[] | undefined =>
  part?.units.flatMap(({ sources }) => sources.map(({ at }) => at))

/** The service of a job, opened where it is asked. */
export const askedService = ({ url }: PullJob | SyncJob, service: KindOptions['service']): AskedService => ({
  origin: parseAddress(url).origin,
  open: async () => rememberParameters(await service(url)),
})

const factsOf = async (
  run: JobOfRun,
  job: PullJob,
  service: KindOptions['service'],
  signal?: AbortSignal,
): Promise<FactsOf<Pulled>> => {
  const plan = await windowsOfRun(run)
  const asked = askedService(job, service)
  return (own, recorded) => {
    const windows = pulledWindows(own, job.content, plan)
    const searched = windows.slice(0, plan.windows.length)
    const closed = windows.slice(plan.windows.length).reduce((sum, { received }) => sum + received, 0)
    const entry = recorded ?? pullEntry(asked.origin, run, job, plan, { windows: searched, closed })
    return {
      ...{ entry, plan, windows },
      missing: missingFrom(entry, job, plan),
      listing: listingOf(asked, job, entry, { signal }),
    }
  }
}

export const pullKind: JobKind<PullJob, Pulled> = {
  prepare: (job, options) =>
    prepareSearch(job, options, async (_, windows) => ({
      units: unitsOfWindows(windowsOf(job.content, windows)),
      strings: [],
    })),
  open: async (run, job, _limits, options, part) => {
    const { concurrency, signal, onPull } = options
    const service = rememberParameters(await options.service(job.url))
    const plan = await windowsOfRun(run)
    run.keep()
    if (part === undefined) onPull?.({ kind: 'planned', plan, resumed: run.number > 1 })
    const { sources, idsPath } = await openPull(
      ...([service, run, job, plan, { concurrency, signal, onEvent: onPull }] as const),
      { only: placesOfPart(part), brought: part?.brought },
    )
    return { sources, idsPath, facts: await factsOf(run, job, options.service, signal) }
  },
  facts: factsOf,
  windowNames: async (run, { content }) =>
    windowsOf(content, await windowsOfRun(run)).map(({ name }) => name),
}

const NO_REQUESTS: ServiceCounters = { requests: 0, retries: 0, throttled: 0, bytes: 0 }

const added = (a: ServiceCounters, b: ServiceCounters): ServiceCounters => ({
  requests: a.requests + b.requests,
  retries: a.retries + b.retries,
  throttled: a.throttled + b.throttled,
  bytes: a.bytes + b.bytes,
})

/** Does a pull or a sync. */
export const driveSearch = async <J extends PullJob | SyncJob, Facts extends Pulled>(
  drive: Driver,
  kind: JobKind<J, Facts>,
  job: J,
  options: Omit<KindOptions, 'service'> & Pick<RunOptions, 'maxQuarantined'> & { readonly service: Service },
) => {
  const service = rememberParameters(options.service)
  const { prepared, loaded, requests } = await drive(kind, job, { ...options, service: async () => service })
  const [pulled] = loaded?.facts ?? []
  if (loaded === undefined || pulled === undefined)
    throw new TypeError(`Cannot ${job.kind}: its run has told nothing of it`)
  const { currencyBefore: before } = prepared
  const counters = added(service.counters(), requests ?? NO_REQUESTS)
  return { summary: loaded, pulled, counters, ...(before !== undefined && { currencyBefore: before }) }
}

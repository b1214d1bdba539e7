/** Puts the parts of a sync together: listing → comparison → what changed as windows → load → the Parquet lake. */

import type { WholeListing } from '../../commit/find-gone.ts'
import type { PullEntry } from '../../core/partition.ts'
import { newestSnapshot, pullsIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake } from '../../run/load-into-lake.ts'
import { DEFAULT_MEMORY_BYTES, divideMemory } from '../../run/memory-shares.ts'
import { type JobScope, notDelivered, type OpenedJob } from '../../run/opened-job.ts'
import type { RunPlan, SyncJob } from '../../run/run-plan.ts'
import { withRun } from '../../run/with-run.ts'
import type { ServiceCounters } from '../../source/service/service.ts'
import { listingOf } from '../pull/ask-listed.ts'
import { planOfRun, planPull, windowsText } from '../pull/plan-pull.ts'
import type { PullEvent, PullPlan } from '../pull/pull-plan.ts'
import { currencyBefore, type PullRunOptions } from '../pull/pull-search.ts'
import { checkSettings, type PullSettings, rememberParameters } from '../pull/pull-settings.ts'
import {
  findChanges,
  openSync,
  type SyncEvent,
  type SyncFindings,
  syncEntry,
  syncSettings,
} from './find-changes.ts'

export interface SyncRunOptions extends Omit<PullRunOptions, 'onPull'> {
  readonly onSync?: ((event: SyncEvent | Extract<PullEvent, { kind: 'planned' }>) => void) | undefined
}

export interface SyncSummary {
  readonly summary: LoadSummary
  /** Of the last pull of this search, where this one is in another. */
  readonly currencyBefore?: string
  readonly entry: PullEntry
  readonly plan: PullPlan
  readonly findings: SyncFindings
  /** Companies fetched in full. */
  readonly fetched: number
  readonly counters: ServiceCounters
}

/** Starts or resumes the run of a sync, and works on it. `url` is where a resumed run finds the service. */
export const syncSearch = async (
  url: string,
  asked: Pick<PullSettings, 'search' | 'currency' | 'by' | 'closeGap'>,
  options: SyncRunOptions,
): Promise<SyncSummary> => {
  const service = rememberParameters(options.service)
  const settings = syncSettings(asked)
  await checkSettings(service, settings, options.signal)
  const before = await currencyBefore(settings, options)
  const job: SyncJob = { kind: 'sync', url, ...settings }
  const plan: RunPlan = { jobs: [job], again: false, limits: defaultLimits(options) }
  const { lake, mode, signal } = options
  // What changed is listed by the run itself, which may take long: it goes on there where it was interrupted.
  const files = async () => {
    const planned = { nowMs: () => performance.now(), signal }
    return new Map([windowsText(await planPull(service, settings, await pullsIfAny(lake), planned))])
  }
  return withRun({ lake, plan, mode, files, taking: options }, async (run) => {
    const opened = await openSyncJob(run, job, { ...options, service })
    const summary = await loadIntoLake(run, [opened], options)
    const { entry, plan: windows, findings, fetched } = opened
    const counters = service.counters()
    return { summary, entry, plan: windows, findings, fetched: fetched(), counters, ...before }
  })
}

/** What a sync calls vanished, of the companies that the lake has of the search. */
const lackingOf = ({ vanished, unchanged, changed }: SyncFindings): WholeListing['lacking'] =>
  vanished && { ids: vanished.map(BigInt), held: unchanged + changed.length + vanished.length }

export interface OpenedSync extends OpenedJob, Pick<SyncSummary, 'entry' | 'plan' | 'findings'> {
  /** Companies fetched in full so far. */
  readonly fetched: () => number
}

/** Lists and compares, or takes what an earlier attempt found; what changed is pulled when it is asked for. */
export const openSyncJob = async (
  run: JobScope,
  settings: PullSettings,
  options: Omit<SyncRunOptions, 'lake' | 'limit'>,
): Promise<OpenedSync> => {
  const { service, concurrency, signal, onSync, memoryBytes = DEFAULT_MEMORY_BYTES } = options
  const { engineBytes } = divideMemory(memoryBytes, options.threads)
  const shared = {
    ...{ nowMs: () => performance.now(), concurrency, signal, onEvent: onSync },
    memoryBytes: engineBytes,
  }
  const snapshot = await newestSnapshot(run.lake)
  const plan = await planOfRun(run, () => planPull(service, settings, snapshot, shared))
  run.keep()
  onSync?.({ kind: 'planned', plan, resumed: run.number > 1 })
  const findings = await findChanges(service, run, settings, plan, snapshot, shared)
  onSync?.({ kind: 'compared', findings })
  const entry = syncEntry(service, run, settings, plan, findings)
  const { sources, checkpoints } = await openSync(service, run, settings, findings, shared)
  const fetched = (): number => checkpoints().reduce((sum, one) => sum + (one?.records ?? 0), 0)
  return {
    ...{ sources, plan, entry, findings, fetched, pulls: () => [entry] },
    listing: () => listingOf(service, settings, entry, { signal, lacking: lackingOf(findings) }),
    notDelivered: () => notDelivered(findings.new.length + findings.changed.length, fetched()),
  }
}

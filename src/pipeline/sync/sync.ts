/** Puts the parts of a sync together: listing → comparison → what changed as windows → load → the Parquet lake. */

import { randomBytes } from 'node:crypto'
import type { PullEntry } from '../../core/partition.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { newestSnapshot } from '../../manifest/snapshots.ts'
import type { ServiceCounters } from '../../source/service/service.ts'
import { planOfRun, planPull } from '../pull/plan-pull.ts'
import { currencyBefore, type PullRunOptions } from '../pull/pull.ts'
import type { PullEvent, PullPlan } from '../pull/pull-plan.ts'
import { checkSettings, type PullSettings, rememberParameters } from '../pull/pull-settings.ts'
import { orGiveUp, orRelease } from '../run/give-up.ts'
import { defaultLimits, loadIntoLake } from '../run/load-into-lake.ts'
import type { LoadSummary } from '../run/load-sources.ts'
import { DEFAULT_MEMORY_BYTES, divideMemory } from '../run/memory-shares.ts'
import { type RunPlan, startRun } from '../run/start-run.ts'
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

/** Starts or takes up the run of a sync, and works on it. `url` is where a resumed run finds the service. */
export const sync = async (
  url: string,
  asked: Pick<PullSettings, 'search' | 'currency' | 'by' | 'closeGap'>,
  options: SyncRunOptions,
): Promise<SyncSummary> => {
  const service = rememberParameters(options.service)
  const settings = syncSettings(asked)
  await checkSettings(service, settings, options.signal)
  const before = await currencyBefore(settings, options)
  const plan: RunPlan = {
    ...{ pipeline: 'sync', inputs: [], cwd: '', content: settings.content, again: false },
    limits: defaultLimits(options),
    settings: { url, ...settings },
  }
  const lease = await startRun({
    lake: options.lake,
    plan,
    now: new Date(),
    random: randomBytes,
    mode: options.mode,
  })
  return { ...(await workOnSync(lease, plan, settings, { ...options, service })), ...before }
}

/** Works on a run of a sync that is already leased. */
export const workOnSync = async (
  lease: RunLease,
  plan: RunPlan,
  settings: PullSettings,
  options: SyncRunOptions,
): Promise<SyncSummary> => {
  const { service, concurrency, signal, onSync, lake, memoryBytes = DEFAULT_MEMORY_BYTES } = options
  const { engineBytes } = divideMemory(memoryBytes, options.threads)
  const shared = {
    ...{ nowMs: () => performance.now(), concurrency, signal, onEvent: onSync },
    memoryBytes: engineBytes,
  }
  const snapshot = await orRelease(lease, () => newestSnapshot(lake))
  const planned = await orGiveUp(lease, () =>
    planOfRun(lease, () => planPull(service, settings, snapshot, shared)),
  )
  onSync?.({ kind: 'planned', ...planned })
  const findings = await orRelease(lease, () =>
    findChanges(service, lease, settings, planned.plan, snapshot, shared),
  )
  onSync?.({ kind: 'compared', findings })
  const entry = syncEntry(service, lease, settings, planned.plan, findings)
  const opened = await orRelease(lease, () => openSync(service, lease, settings, findings, shared))
  try {
    const summary = await loadIntoLake(lease, plan, opened.sources, { ...options, pulls: () => [entry] })
    const fetched = opened.checkpoints().reduce((sum, one) => sum + (one?.records ?? 0), 0)
    return { summary, entry, plan: planned.plan, findings, fetched, counters: service.counters() }
  } finally {
    await opened.stop()
  }
}

/** `sync`: the companies of a search that are new or changed into a lake, in one call. */

import { DEFAULT_MEMORY_BYTES, divideMemory } from '../../core/memory-shares.ts'
import type { PullEntry } from '../../core/partition.ts'
import { newestSnapshot } from '../../manifest/snapshots/snapshots.ts'
import type { SyncOptions } from '../../options/interfaces.ts'
import { SYNC } from '../../options/search.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { JobScope, OpenedJob } from '../../run/opened-job.ts'
import type { SyncJob } from '../../run/run-plan.ts'
import type { ServiceCounters } from '../../source/service/service.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { lakeJob } from '../common/lake-job.ts'
import { measured } from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import { receivedOf } from '../pull/open-windows.ts'
import { windowsOfRun } from '../pull/plan-pull.ts'
import { type PullRunOptions, runSearch, searched } from '../pull/pull.ts'
import type { PullPlan, PullSettings } from '../pull/pull-settings.ts'
import { findChanges, openSync, type SyncFindings, syncEntry, syncSettings } from './find-changes.ts'
import { missingFromSync, syncListing } from './sync-outcome.ts'

/** The report of a sync. */
export interface SyncReport extends RunReport {
  /** Which companies are new, changed, gone; how many were fetched; the requests it took. */
  readonly sync: Omit<SyncSummary, 'summary'>
}

/**
 * Lists the companies of a search with their timestamps, compares these with the lake, and loads in full only what is new
 * or changed, in one commit. Companies of the lake that no search has any more are kept and not shown, unless they are
 * too many (`maxGone`). Then published tables and sinks are updated.
 *
 * Stopped at any point, killed too, the lake is as it was; the same call resumes.
 *
 * @returns what the run did, `sync.findings` of the comparison, and what its targets received
 * @throws {ToolkitError} as `pull`; `COMPANIES_MISSING`, after the commit and the targets, where the service lists companies and
 *   does not give them
 * @example
 * import { createService, sync } from 'firmlake'
 *
 * const from = createService({ url: 'https://service.example.com', token: 'token-of-my-service' })
 * const { sync: synced } = await sync({ from, lake: './lake', search: { CountryCode: ['SE'] } })
 * console.log(synced.findings.listed, synced.fetched) // 2 2
 */
export const sync: (options: SyncOptions) => Promise<SyncReport & TargetsSummary> = lakeJob(
  'sync',
  SYNC,
  async (options) => {
    const { loaded, report } = await measured(options, (run) =>
      syncSearch(run.from.url, searched(run), { ...run, service: run.from }),
    )
    const { summary, ...synced } = loaded
    return { ...report(summary), sync: synced }
  },
)

export type SyncRunOptions = Omit<PullRunOptions, 'onPull'> & Pick<SyncOptions, 'onSync'>

export interface SyncSummary {
  readonly summary: LoadSummary
  /** The currency of the last pull of this search, if this one is in another. */
  readonly currencyBefore?: string
  readonly entry: PullEntry
  readonly plan: PullPlan
  readonly findings: SyncFindings
  /** Companies fetched in full. */
  readonly fetched: number
  readonly counters: ServiceCounters
}

/**
 * Starts or resumes the run of a sync, and works on it: the run itself lists the changes, which may take long, and continues there if
 * it was interrupted. `url` is where a resumed run finds the service.
 */
export const syncSearch = async (
  url: string,
  asked: Pick<PullSettings, 'search' | 'currency' | 'by' | 'closeGap'>,
  options: SyncRunOptions,
): Promise<SyncSummary> => {
  const job: SyncJob = { kind: 'sync', url, ...syncSettings(asked) }
  const { opened, ...done } = await runSearch(job, options, (run, service) =>
    openSyncJob(run, job, { ...options, service }),
  )
  const { entry, plan, findings, fetched } = opened
  return { ...done, entry, plan, findings, fetched: fetched() }
}

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
    ...{ concurrency, signal, onEvent: onSync },
    memoryBytes: engineBytes,
  }
  const snapshot = await newestSnapshot(run.lake)
  const plan = await windowsOfRun(run)
  run.keep()
  onSync?.({ kind: 'planned', plan, resumed: run.number > 1 })
  const findings = await findChanges(service, run, settings, plan, snapshot, shared)
  onSync?.({ kind: 'compared', findings })
  const entry = syncEntry(service, run, settings, plan, findings)
  const { sources, checkpoints } = await openSync(service, run, settings, findings, shared)
  const fetched = (): number => checkpoints().reduce((sum, one) => sum + (one?.records ?? 0), 0)
  return {
    ...{ sources, plan, entry, findings, fetched, pulls: () => [entry] },
    listing: () =>
      syncListing({ origin: service.origin, open: async () => service }, settings, entry, findings, signal),
    notDelivered: (before) => {
      const came = before ? receivedOf(before.partitions) : fetched()
      return missingFromSync(before?.pull ?? entry, settings, plan, findings, came)
    },
  }
}

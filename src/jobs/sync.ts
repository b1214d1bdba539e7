/** `sync`: the companies of a search that are new or changed into a lake, in one call. */

import type { SyncOptions } from '../options/interfaces.ts'
import { SYNC } from '../options/search.ts'
import { syncSettings } from '../pull/sync/find-changes.ts'
import { type Synced, syncKind } from '../pull/sync/sync-kind.ts'
import { driveSearch } from '../pull/windows/pull-kind.ts'
import type { PullSettings } from '../pull/windows/pull-settings.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { type Driver, here } from '../run/job-kind.ts'
import type { SyncJob } from '../run/run-plan.ts'
import type { RunReport } from '../run/run-report.ts'
import type { ServiceCounters } from '../source/service/service.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'
import { type PullRunOptions, searched } from './pull.ts'

/** The report of a sync. */
export interface SyncReport extends RunReport {
  /** Companies that are new, changed or gone, how many were fetched, and the requests it took. */
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
export const sync: (options: SyncOptions) => Promise<SyncReport & TargetsSummary> = (options) =>
  syncBy(here, options)

/** A sync by this process, or by an engine. */
export const syncBy = (drive: Driver, asked: SyncOptions): Promise<SyncReport & TargetsSummary> =>
  lakeJob<SyncOptions, typeof SYNC, SyncReport>('sync', SYNC, async (options) => {
    const { loaded, report } = await measured(options, (run) =>
      syncSearch(run.from.url, searched(run), { ...run, service: run.from }, drive),
    )
    const { summary, ...synced } = loaded
    return { ...report(summary), sync: synced }
  })(asked)

export interface SyncSummary extends Pick<Synced, 'entry' | 'plan' | 'findings' | 'fetched'> {
  readonly summary: LoadSummary
  /** The currency of the last pull of this search, if this one is in another. */
  readonly currencyBefore?: string
  readonly counters: ServiceCounters
}

/**
 * Starts or resumes the run of a sync, and works on it: the run itself lists the changes, which may take long, and continues there if
 * it was interrupted. `url` is where a resumed run finds the service.
 */
export const syncSearch = async (
  url: string,
  asked: Pick<PullSettings, 'search' | 'currency' | 'by' | 'closeGap'>,
  options: PullRunOptions,
  drive: Driver = here,
): Promise<SyncSummary> => {
  const job: SyncJob = { kind: 'sync', url, ...syncSettings(asked) }
  const { pulled, ...done } = await driveSearch(drive, syncKind, job, options)
  const { entry, plan, findings, fetched } = pulled
  return { ...done, entry, plan, findings, fetched }
}

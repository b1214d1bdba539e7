/** `sync`: the companies of a search that are new or changed into a lake, in one call. */

import type { TargetsSummary } from '../../targets/update-targets.ts'
import { allDelivered } from '../common/all-delivered.ts'
import { measured, runOptionsOf, withTargets } from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import { DEFAULT_CONCURRENCY, maxGoneOf, type ServiceJobOptions } from '../common/service-job.ts'
import { exactSearch } from '../pull/exact-search.ts'
import type { PullOptions } from '../pull/pull.ts'
import { type SyncRunOptions, type SyncSummary, syncSearch } from './sync-search.ts'

/** Options of `sync`. */
export interface SyncOptions
  extends ServiceJobOptions<SyncReport>,
    Pick<PullOptions, 'search' | 'currency' | 'by' | 'closeGap'> {
  /** Progress of the list and the windows. */
  readonly onSync?: SyncRunOptions['onSync']
}

/** What a sync did. */
export interface SyncReport extends RunReport {
  /** Which companies are new, changed, vanished; how many were fetched; the requests it took. */
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
 * import { service, sync } from 'firmlake'
 *
 * const from = service({ url: 'https://service.example.com', token: 'my-token' })
 * const { sync: synced } = await sync({ from, lake: './lake', search: { CountryCode: ['SE'] } })
 * console.log(synced.findings.listed, synced.fetched) // 2 2
 */
export const sync = (options: SyncOptions): Promise<SyncReport & TargetsSummary> => {
  const { from: service, concurrency = DEFAULT_CONCURRENCY, search, currency, by, closeGap, onSync } = options
  const asked = { search: exactSearch(search), currency, by, ...(closeGap === false && { closeGap }) }
  const done = withTargets(options, async () => {
    const begun = { ...runOptionsOf(options), maxGone: maxGoneOf(options) }
    const { loaded, report } = await measured(begun, (run) =>
      syncSearch(service.url, asked, { ...run, service, concurrency, onSync }),
    )
    const { summary, ...synced } = loaded
    return { ...report(summary), sync: synced }
  })
  return done.then((one) => allDelivered(one, [one]))
}

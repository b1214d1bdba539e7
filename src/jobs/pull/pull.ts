/** `pull`: what a search finds at the service into a lake, in one call. */

import { LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { SearchInput } from '../../contract/requests.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { measured, runOptionsOf, withTargets } from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import { DEFAULT_CONCURRENCY, maxGoneOf, type ServiceJobOptions } from '../common/service-job.ts'
import { exactSearch } from './exact-search.ts'
import type { PullEvent } from './pull-plan.ts'
import { type PullSummary, pullSearch } from './pull-search.ts'

/** Options of `pull`. */
export interface PullOptions extends ServiceJobOptions<PullReport> {
  readonly content: Content
  /** Search parameters of the interface with their values, such as `{ CountryCode: ['SE'] }`; an id beyond 2^53 is a bigint or a text. */
  readonly search: SearchInput
  /** Currency of the figures, of companies only. @default USD */
  readonly currency?: string | undefined
  /** First day (UTC, `2026-01-31`), or `last`: where the lake's last pull of the same search stood. @default everything */
  readonly since?: string | undefined
  /** Last day (UTC). @default none */
  readonly until?: string | undefined
  /** Date parameter to cut windows by, and that the days mean. @default the one that covers most */
  readonly by?: string | undefined
  /** Whether companies that no window covers are found along other parameters. @default true */
  readonly closeGap?: boolean | undefined
  /** Most records of a window. @default 100,000, what one cursor chain delivers */
  readonly cap?: number | undefined
  /** Records of a page. @default 500 */
  readonly pageSize?: number | undefined
  /** Progress of the windows. */
  readonly onPull?: ((event: PullEvent) => void) | undefined
}

/** What a pull did. */
export interface PullReport extends RunReport {
  /** What was asked for, announced and received; its windows; the requests it took. */
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
 *   `DISK_FULL`, `USAGE`, `INTERRUPTED`; what `updateTargets` throws, after the commit
 * @example
 * import { pull, service } from 'firmlake'
 *
 * const { snapshot, records, pull: pulled } = await pull({
 *   from: service({ url: 'https://service.example.com', token: 'my-token' }),
 *   lake: './lake',
 *   content: 'companies',
 *   search: { CountryCode: ['SE'] },
 *   since: 'last',
 * })
 * console.log(snapshot, records, pulled.entry.announced) // 1 2 2
 */
export const pull = (options: PullOptions): Promise<PullReport & TargetsSummary> => {
  const { from: service, concurrency = DEFAULT_CONCURRENCY, onPull } = options
  const { content, search, currency, since, until, by, closeGap } = options
  const { cap = LIMITS.cursorCap, pageSize = LIMITS.pageSize.most } = options
  const settings = {
    ...{ content, search: exactSearch(search), currency, since, until, by, cap, pageSize },
    // Left out where it is the default: a run that was started without it is resumed.
    ...(closeGap === false && { closeGap }),
  }
  return withTargets(options, async () => {
    const asked = { ...runOptionsOf(options), maxGone: maxGoneOf(options) }
    const { loaded, report } = await measured(asked, (run) =>
      pullSearch(service.url, settings, { ...run, service, concurrency, onPull }),
    )
    const { summary, ...pulled } = loaded
    return { ...report(summary), pull: pulled }
  })
}

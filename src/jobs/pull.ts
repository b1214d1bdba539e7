/** `pull`: what a search finds at the service into a lake, in one call. */

import type { Read } from '../options/entry.ts'
import type { PullOptions } from '../options/interfaces.ts'
import { PULL } from '../options/search.ts'
import { driveSearch, type Pulled, pullKind } from '../pull/windows/pull-kind.ts'
import type { PullSettings } from '../pull/windows/pull-settings.ts'
import { exactSearch } from '../pull/windows/search.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { type Driver, here, type KindOptions } from '../run/job-kind.ts'
import type { RunOptions } from '../run/load-into-lake.ts'
import type { PullJob } from '../run/run-plan.ts'
import type { RunReport } from '../run/run-report.ts'
import type { Service, ServiceCounters } from '../source/service/service.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'

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
export const pull: (options: PullOptions) => Promise<PullReport & TargetsSummary> = (options) =>
  pullBy(here, options)

/** A pull by this process, or by an engine. */
export const pullBy = (drive: Driver, asked: PullOptions): Promise<PullReport & TargetsSummary> =>
  lakeJob<PullOptions, typeof PULL, PullReport>('pull', PULL, async (options) => {
    const { loaded, report } = await measured(options, (run) =>
      pullSearch(run.from.url, askedByPull(run), { ...run, service: run.from }, drive),
    )
    const { summary, ...pulled } = loaded
    return { ...report(summary), pull: pulled }
  })(asked)

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

export interface PullRunOptions extends Omit<KindOptions, 'service'>, Pick<RunOptions, 'maxQuarantined'> {
  readonly service: Service
}

export interface PullSummary extends Pick<Pulled, 'entry' | 'plan' | 'windows'> {
  readonly summary: LoadSummary
  /** The currency of the last pull of this search, if this one is in another. */
  readonly currencyBefore?: string
  readonly counters: ServiceCounters
}

/** Starts or resumes the run of a pull, and works on it. `url` is where a resumed run finds the service. */
export const pullSearch = async (
  url: string,
  settings: PullSettings,
  options: PullRunOptions,
  drive: Driver = here,
): Promise<PullSummary> => {
  const job: PullJob = { kind: 'pull', url, ...settings }
  const { pulled, ...done } = await driveSearch(drive, pullKind, job, options)
  const { entry, plan, windows } = pulled
  return { ...done, entry, plan, windows }
}

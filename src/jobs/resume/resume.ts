/** `resume`: interrupted runs continued to their end, in one call. */

import { parseQuarantineLimit, type QuarantineLimit } from '../../commit/quarantine-limit.ts'
import type { Service } from '../../source/service/service.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { allDelivered } from '../common/all-delivered.ts'
import { type LoadOptions, measured, runOptionsOf, withTargets } from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import { type MaxGoneOption, maxGoneOf } from '../common/service-job.ts'
import { resumeRuns, sortUnfinished } from './resume-runs.ts'

/** Options of `resume`. */
export interface ResumeOptions
  extends Omit<LoadOptions<ResumeReport>, 'mode' | 'maxUnknownPerRecord' | 'maxUnknownNames'>,
    MaxGoneOption {
  /** Id of the run. @default all that were interrupted, except those that would fail again */
  readonly run?: string | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops a run */
  readonly skipBadFiles?: boolean | undefined
  /**
   * Opens the service of a run that pulls from one, by the address in the run's plan; it is closed when the run ends.
   * @default with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL
   */
  readonly service?: ((url: string) => Service | Promise<Service>) | undefined
  /** Windows pulled, or files downloaded, side by side. @default 4 */
  readonly concurrency?: number | undefined
}

/** What became of an interrupted run. */
export type ResumedRun =
  | { readonly kind: 'loaded'; readonly report: RunReport }
  /** It had committed before its process went; only its folder was left. */
  | { readonly kind: 'committed'; readonly run: string; readonly snapshot: number }
  /** It does not stop the others. */
  | { readonly kind: 'failed'; readonly run: string; readonly error: unknown }

/** What became of interrupted runs, oldest first. */
export interface ResumeReport {
  readonly runs: readonly ResumedRun[]
}

/** Resumes one run, without its targets. @throws {ToolkitError} as `resume` of one run */
export const resumeOne = async (run: string, options: ResumeOptions): Promise<ResumedRun> => {
  const { service, concurrency, skipBadFiles } = options
  const begun = { ...runOptionsOf(options), skipBadFiles, maxGone: maxGoneOf(options) }
  const { loaded, report } = await measured(begun, (watched) =>
    resumeRuns({
      ...{ ...watched, run, concurrency },
      service: service && (async (url) => service(url)),
    }),
  )
  const [resumed] = loaded
  if (resumed?.kind === 'loaded') return { kind: 'loaded', report: report(resumed.summary) }
  return resumed ?? { kind: 'failed', run, error: undefined }
}

const limitOf = ({ maxQuarantined: limit }: ResumeOptions): QuarantineLimit | undefined =>
  limit === undefined || typeof limit === 'object' ? limit : parseQuarantineLimit(String(limit))

/**
 * Resumes one run whose process is gone, or all of them, each at its last finished partition; without `run` those that would
 * fail again are left alone, unless the given options may resolve it. Then published tables and sinks are updated.
 *
 * @returns what became of each run, and what the targets received
 * @throws {ToolkitError} of the one run that was named: `RUN_NOT_FOUND`, `RUN_LIVE`, `RUN_NOT_RESUMABLE` (standard input and
 *   records of a program cannot be read again), and whatever stops a run; `INTERRUPTED`, `USAGE`, `PLAN_ORIGIN`; `COMPANIES_MISSING` as
 *   `sync`; what `updateTargets` throws
 * @example
 * import { convert, resume } from 'firmlake'
 *
 * const stopped = convert({ from: ['batches/'], lake: './lake', signal: AbortSignal.timeout(1) })
 * await stopped.catch(() => 'what is finished is kept')
 * const { runs } = await resume({ lake: './lake' })
 * console.log(runs.every(({ kind }) => kind !== 'failed')) // true
 */
export const resume = (options: ResumeOptions): Promise<ResumeReport & TargetsSummary> => {
  const done = withTargets<ResumeReport>(options, async () => {
    const { lake, run, signal, changeCurrency, skipBadFiles } = options
    if (run !== undefined) return { runs: [await resumeOne(run, options)] }
    const strictness = { limit: limitOf(options), changeCurrency, skipBadFiles }
    const runs: ResumedRun[] = []
    for (const id of (await sortUnfinished(lake, strictness)).resumable) {
      const resumed = resumeOne(id, options).catch((error: unknown): ResumedRun => {
        if (signal?.aborted) throw error
        return { kind: 'failed', run: id, error }
      })
      runs.push(await resumed)
    }
    return { runs }
  })
  return done.then((one) => allDelivered(one, one.runs.flatMap(reportIn)))
}

const reportIn = (run: ResumedRun): readonly RunReport[] => (run.kind === 'loaded' ? [run.report] : [])

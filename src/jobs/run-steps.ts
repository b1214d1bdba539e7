/**
 * A run in steps that any machine can take: `planRun`, then `workRun` for each unit by any number of processes, then
 * `commitRun`. They share nothing but what is stored in the lake. Each step imports what it works with when it is called: a
 * worker is a process, and there are many.
 */

import type { Content } from '../contract/objects.ts'
import type { Read } from '../options/entry.ts'
import type {
  CommitRunOptions,
  ConvertOptions,
  PullOptions,
  RunPlanOptions,
  RunStep,
  SyncOptions,
  UnitWorkOptions,
} from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { COMMIT_RUN, PLAN_RUN, RUN_STEP, WORK_RUN } from '../options/steps.ts'
import { NO_SERVICE } from '../run/job-kind.ts'
import { limitsGiven } from '../run/load-job.ts'
import type { LoadJob } from '../run/run-plan.ts'
import type { RunReport } from '../run/run-report.ts'
import type { PlannedRun } from '../shared-run/plan-shared-run.ts'
import type { SharedRunStatus } from '../shared-run/shared-run.ts'
import type { UnitChoice, WorkSummary } from '../shared-run/work-shared-run.ts'
import type { BatchFiles } from '../source/inputs.ts'
import { serviceOfEnvironment } from '../source/service/open-services.ts'
import type { Service, ServiceCounters } from '../source/service/service.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'

/** The load of a run that many machines share. */
export type RunLoad =
  | ({
      readonly load: 'convert'
      /** Files, folders, patterns; every machine finds them under the same paths. */
      readonly from: string | readonly string[]
      readonly content?: Content | undefined
    } & Pick<ConvertOptions, 'asOf' | 'maxLineBytes' | 'maxRatio' | 'maxDepth'>)
  | ({ readonly load: 'pull' } & Pick<
      PullOptions,
      'from' | 'content' | 'search' | 'currency' | 'since' | 'until' | 'by' | 'closeGap' | 'cap' | 'pageSize'
    >)
  | ({ readonly load: 'sync' } & Pick<SyncOptions, 'from' | 'search' | 'currency' | 'by' | 'closeGap'>)
  | { readonly load: 'batches'; readonly from: BatchFiles }

/** Options of `planRun`. */
export type PlanRunOptions = RunLoad & RunPlanOptions

type AskedPlan = Read<RunLoad & Omit<RunPlanOptions, 'unitBytes'>, typeof PLAN_RUN> &
  Pick<RunPlanOptions, 'unitBytes'>

const jobOf = async (options: AskedPlan): Promise<LoadJob> => {
  switch (options.load) {
    case 'convert': {
      const { from, content, asOf } = options
      const more = { ...(content && { content }), ...(asOf !== undefined && { asOf }) }
      return { kind: 'convert', inputs: [from].flat(), cwd: process.cwd(), ...more }
    }
    case 'pull': {
      const { askedByPull } = await import('./pull.ts')
      return { kind: 'pull', url: options.from.url, ...askedByPull(options) }
    }
    case 'sync': {
      const { searched } = await import('./pull.ts')
      const { syncSettings } = await import('../pull/sync/find-changes.ts')
      return { kind: 'sync', url: options.from.url, ...syncSettings(searched(options)) }
    }
    case 'batches': {
      const { batchSelection } = await import('./pull-batch-files.ts')
      return { kind: 'batches', url: options.from.service.url, selection: batchSelection(options.from) }
    }
  }
}

/**
 * Plans a run that any number of processes work on, on any machine that reaches the lake: what there is to load is cut into
 * units, which are stored in the lake. Nothing is loaded. Units of a later phase (windows of a pull that still grow) wait
 * for those of the earlier ones. The same plan again gives the run that is there, as long as it is not finished.
 *
 * @returns the id of the run, `null` where there is nothing to load; how many units it has, and which are of one phase
 * @throws {ToolkitError} `USAGE` for standard input, and what `convert`, `pull`, `sync` or `pullBatchFiles` throw before they
 *   begin: no run is begun then
 * @example
 * import { planRun } from 'firmlake'
 *
 * const { units, phases } = await planRun({ load: 'convert', from: 'batches/', lake: './lake' })
 * console.log(units, phases.length) // 1 1
 */
export const planRun: (options: PlanRunOptions) => Promise<PlannedRun> = job(
  'planRun',
  PLAN_RUN,
  async (options) => {
    const { planSharedRun } = await import('../shared-run/plan-shared-run.ts')
    const { rememberParameters } = await import('../pull/windows/pull-settings.ts')
    const limits = options.load === 'convert' ? limitsGiven(options) : {}
    const asked = { ...NO_SERVICE, ...options, job: await jobOf(options), limits }
    if (options.load === 'convert') return planSharedRun(asked)
    const service = rememberParameters(options.load === 'batches' ? options.from.service : options.from)
    return planSharedRun({ ...asked, service: async () => service })
  },
)

/** Options of `workRun`. */
export type WorkRunOptions = UnitWorkOptions & UnitChoice

const withShare = (url: string, maxRequestsPerSecond: number | undefined): Promise<Service> =>
  serviceOfEnvironment(url, { maxRequestsPerSecond })

/**
 * Loads units of a run: some by their ids, or each `of`-th. A unit that is done already is left alone; one that several
 * processes work on at the same time is done once. Killed at any point, the same call resumes.
 *
 * @returns what became of each unit; `snapshot` where the run is committed already
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_INCOMPLETE` where units of an earlier phase are not done, `RUN_OTHER_RELEASE`,
 *   `SOURCE_CHANGED`, `USAGE`, `PLAN_ORIGIN`, `INTERRUPTED`, and what the sources throw
 * @example
 * import { planRun, workRun } from 'firmlake'
 *
 * const { run } = await planRun({ load: 'convert', from: 'batches/', lake: './lake' })
 * const { units } = await workRun({ lake: './lake', run: run ?? '', shard: { index: 0, of: 1 } })
 * console.log(units[0]?.kind, units[0]?.records) // done 5
 */
export const workRun: (options: WorkRunOptions) => Promise<WorkSummary> = job(
  'workRun',
  WORK_RUN,
  async ({ service = withShare, ...options }) => {
    const choice: UnitChoice = 'units' in options ? { units: options.units } : { shard: options.shard }
    const { workSharedRun } = await import('../shared-run/work-shared-run.ts')
    return workSharedRun({ ...options, choice, service: async (url, share) => service(url, share) })
  },
)

/** The report of a commit of a run. */
export type CommitRunReport =
  | ({
      readonly kind: 'committed'
      /** The requests to the service; absent where it was not asked. */
      readonly requests?: ServiceCounters
    } & RunReport)
  /** Another call had committed it; `null`: it had found nothing new. */
  | { readonly kind: 'already'; readonly run: string; readonly snapshot: number | null }

/**
 * Commits a run whose units are all done, in one snapshot, and removes its folder. Anyone may call it, again and at once with
 * others: one of them makes the snapshot, and the others find it. Then published tables and sinks are updated.
 *
 * @throws {ToolkitError} `RUN_INCOMPLETE` naming the first units that are not done, `RUN_NOT_FOUND`, `RUN_OTHER_RELEASE`;
 *   `RUN_NOT_RESUMABLE` where a file is not what its worker has recorded: `cancelRun`, then `planRun` again;
 *   `QUARANTINE_LIMIT`, `CURRENCY_CHANGED` (the run stays); `COMPANIES_MISSING` as `sync`; what `updateTargets` throws, after the commit
 * @example
 * import { commitRun, planRun, workRun } from 'firmlake'
 *
 * const lake = './lake'
 * const { run } = await planRun({ load: 'convert', from: 'batches/', lake })
 * await workRun({ lake, run: run ?? '', units: [0] })
 * const committed = await commitRun({ lake, run: run ?? '' })
 * console.log(committed.kind, committed.snapshot) // committed 1
 */
export const commitRun: (options: CommitRunOptions) => Promise<CommitRunReport & TargetsSummary> = lakeJob(
  'commitRun',
  COMMIT_RUN,
  async ({ service = withShare, ...options }): Promise<CommitRunReport> => {
    const { lake, run } = options
    const { letLoad } = await import('../run/discard-held.ts')
    await letLoad(lake)
    const { commitSharedRun } = await import('../shared-run/commit-shared-run.ts')
    const { loaded, report } = await measured(options, (watched) =>
      commitSharedRun({ ...watched, run, service: async (url, share) => service(url, share) }),
    )
    if (loaded.kind === 'already') return loaded
    const { summary, requests } = loaded
    return { kind: 'committed', ...report(summary), ...(requests && { requests }) }
  },
)

/**
 * How far a run is: its units and those that are done, by phase, and what these have loaded.
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` where it is damaged, `LAKE_NOT_FOUND`
 * @example
 * import { planRun, runStatus } from 'firmlake'
 *
 * const { run } = await planRun({ load: 'convert', from: 'batches/', lake: './lake' })
 * const { units, done } = await runStatus({ lake: './lake', run: run ?? '' })
 * console.log(done, units) // 0 1
 */
export const runStatus: (options: RunStep) => Promise<SharedRunStatus> = job(
  'runStatus',
  RUN_STEP,
  async ({ lake, run }) => (await import('../shared-run/shared-run.ts')).sharedRunStatus(lake, run),
)

/**
 * Ends a run without a commit: its workers find it gone. Stopped halfway, the same call resumes. What they have loaded goes
 * with `gc`.
 *
 * @returns the number of the snapshot that shows the run, where it had committed; else `null`
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `LAKE_NOT_FOUND`
 * @example
 * import { cancelRun, planRun } from 'firmlake'
 *
 * const { run } = await planRun({ load: 'convert', from: 'batches/', lake: './lake' })
 * const snapshot = await cancelRun({ lake: './lake', run: run ?? '' })
 * console.log(snapshot === null) // true
 */
export const cancelRun: (options: RunStep) => Promise<number | null> = job(
  'cancelRun',
  RUN_STEP,
  async ({ lake, run }) => (await import('../shared-run/shared-run.ts')).cancelSharedRun(lake, run),
)

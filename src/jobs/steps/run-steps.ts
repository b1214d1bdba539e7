/**
 * A run in steps that any machine can take: `planRun`, then `workRun` for each unit by any number of processes, then
 * `commitRun`. They share nothing but what is stored in the lake. Each step imports what it works with when it is called: a
 * worker is a process, and there are many.
 */

import type { Content } from '../../contract/objects.ts'
import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import type { CommonOptions, ConvertOptions, LoadOptions } from '../../options/interfaces.ts'
import type { RunEvent } from '../../run/work/progress.ts'
import type { Service } from '../../source/service/service.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import type { BatchFiles } from '../common/inputs.ts'
import { withTargets } from '../common/lake-job.ts'
import {
  allDelivered,
  COMMON_OPTIONS,
  DEFAULT_CONCURRENCY,
  LOAD_OPTIONS,
  limitsGiven,
  measured,
  settingsOf,
} from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import type { PullOptions } from '../pull/pull.ts'
import type { SyncOptions } from '../sync/sync.ts'
import type { PlannedRun, SharedJob } from './plan-shared-run.ts'
import type { SharedRunStatus } from './shared-run.ts'
import type { UnitChoice, UnitOutcome, WorkSummary } from './work-shared-run.ts'

/** The load of a run that many machines share. */
export type RunLoad =
  | ({
      readonly load: 'convert'
      /** Files, folders, patterns; every machine finds them under the same paths. */
      readonly from: string | readonly string[]
      readonly content?: Content | undefined
    } & Pick<ConvertOptions, 'maxLineBytes' | 'maxRatio' | 'maxDepth'>)
  | ({ readonly load: 'pull' } & Pick<
      PullOptions,
      'from' | 'content' | 'search' | 'currency' | 'since' | 'until' | 'by' | 'closeGap' | 'cap' | 'pageSize'
    >)
  | ({ readonly load: 'sync' } & Pick<SyncOptions, 'from' | 'search' | 'currency' | 'by' | 'closeGap'>)
  | { readonly load: 'batches'; readonly from: BatchFiles }

/** Options of `planRun`. */
export type PlanRunOptions = RunLoad &
  Pick<
    LoadOptions<never>,
    | ('lake' | 'maxUnknownPerRecord' | 'maxUnknownNames' | 'changeCurrency' | 'mode' | 'signal')
    | ('take' | 'hashKey' | 'changeTaken')
  > & {
    /** Peak memory of a worker, in bytes: the size of blocks follows from it. @default 1 GiB, less in a small container */
    readonly memoryBytes?: number | undefined
    /** Partitions that a worker loads side by side. @default as many as cores, and as there is memory for */
    readonly threads?: number | undefined
    /** Loads sources that the lake holds already once more. @default false */
    readonly again?: boolean | undefined
    /** Leaves damaged and unreadable files out and loads the others. @default false */
    readonly skipBadFiles?: boolean | undefined
    /** Stored bytes of the files of a unit. @default 64 MiB */
    readonly unitBytes?: number | undefined
    /** Requests a second of all workers together; each takes its share. @default learnt by each for itself */
    readonly maxRequestsPerSecond?: number | undefined
  }

const jobOf = async (options: PlanRunOptions): Promise<SharedJob> => {
  switch (options.load) {
    case 'convert': {
      const { from, content } = options
      return { kind: 'convert', inputs: [from].flat(), cwd: process.cwd(), ...(content && { content }) }
    }
    case 'pull': {
      const { askedByPull } = await import('../pull/pull.ts')
      return { kind: 'pull', url: options.from.url, ...askedByPull(options) }
    }
    case 'sync': {
      const { searched } = await import('../pull/pull.ts')
      const { syncSettings } = await import('../sync/find-changes.ts')
      return { kind: 'sync', url: options.from.url, ...syncSettings(searched(options)) }
    }
    case 'batches': {
      const { batchSelection } = await import('../batch-files/pull-batch-files.ts')
      return { kind: 'batchFiles', url: options.from.service.url, selection: batchSelection(options.from) }
    }
  }
}

const planningService = (options: PlanRunOptions): Service | undefined => {
  if (options.load === 'convert') return undefined
  return options.load === 'batches' ? options.from.service : options.from
}

const STEP_OPTIONS: OptionTypes<RunStep> = {
  lake: is.lake,
  run: is.required(is.text, 'the id of a run'),
}

const FILE_OPTIONS = {
  content: is.oneOf('companies', 'relations'),
  ...each(is.amount, 'maxLineBytes', 'maxRatio', 'maxDepth'),
}
const SEARCH_OPTIONS = {
  ...each(is.text, 'currency', 'since', 'until', 'by'),
  closeGap: is.flag,
  ...each(is.count, 'cap', 'pageSize'),
  search: is.object,
}

const PLAN_OPTIONS: OptionTypes<PlanRunOptions> = {
  ...FILE_OPTIONS,
  ...SEARCH_OPTIONS,
  load: is.required(is.oneOf('convert', 'pull', 'sync', 'batches')),
  from: is.required(is.either(is.text, is.texts, is.object), 'paths, a service or batch files'),
  lake: is.lake,
  hashKey: is.either(is.text, is.object),
  ...each(is.flag, 'changeCurrency', 'changeTaken', 'again', 'skipBadFiles'),
  ...each(
    is.amount,
    'memoryBytes',
    'maxUnknownPerRecord',
    'maxUnknownNames',
    'unitBytes',
    'maxRequestsPerSecond',
  ),
  ...each(is.count, 'threads', 'mode'),
  signal: is.signal,
  take: is.object,
}

const WORK_OPTIONS: OptionTypes<WorkRunOptions> = {
  ...STEP_OPTIONS,
  units: is.listOf(is.count, 'numbers of units'),
  memoryBytes: is.amount,
  ...each(is.count, 'threads', 'workers', 'concurrency'),
  ...each(is.callback, 'service', 'onEvent', 'onUnit'),
  signal: is.signal,
  shard: is.object,
}

const COMMIT_OPTIONS: OptionTypes<CommitRunOptions> = {
  ...COMMON_OPTIONS,
  ...STEP_OPTIONS,
  maxQuarantined: LOAD_OPTIONS.maxQuarantined,
  changeCurrency: is.flag,
  onEvent: is.callback,
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
export const planRun = async (options: PlanRunOptions): Promise<PlannedRun> => {
  checkOptions('planRun', PLAN_OPTIONS, options)
  return planLoad(options)
}

/** The same of options that other ones of a job may stand beside. */
export const planLoad = async (options: PlanRunOptions): Promise<PlannedRun> => {
  const limits = options.load === 'convert' ? limitsGiven(options) : {}
  const { planSharedRun } = await import('./plan-shared-run.ts')
  return planSharedRun({ ...options, job: await jobOf(options), limits, service: planningService(options) })
}

/** A step of a run, and where the run is. */
export interface RunStep {
  /** A folder that all machines reach, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Id of the run, as `planRun` gave it. */
  readonly run: string
}

/** Options of `workRun`. */
export type WorkRunOptions = RunStep &
  UnitChoice & {
    /** Peak memory in all, in bytes: as much as the run was planned with. @default 1 GiB, less in a small container */
    readonly memoryBytes?: number | undefined
    /** Partitions loaded side by side, each on one thread. @default 2 */
    readonly threads?: number | undefined
    /**
     * Opens the service of a run that pulls from one, by the address in the run's plan and with this worker's share of the
     * requests a second; it is closed when the work ends. @default with the token of FIRMLAKE_TOKEN, for an address of the
     * origin of FIRMLAKE_URL
     */
    readonly service?: ((url: string, share: number | undefined) => Service | Promise<Service>) | undefined
    /** Workers at once, which share the requests a second. @default as many as there are shards, else 1 */
    readonly workers?: number | undefined
    /** Windows pulled, or files downloaded, side by side. @default 4 */
    readonly concurrency?: number | undefined
    readonly signal?: AbortSignal | undefined
    readonly onEvent?: ((event: RunEvent) => void) | undefined
    /** Called with what became of each unit. */
    readonly onUnit?: ((outcome: UnitOutcome) => void) | undefined
  }

const serviceOfEnvironment = async (url: string, share: number | undefined): Promise<Service> => {
  const { createService } = await import('../../source/service/service.ts')
  const { readToken } = await import('../../source/service/token.ts')
  const { checkPlanOrigin } = await import('../../source/service/address.ts')
  checkPlanOrigin(process.env.FIRMLAKE_URL, url)
  const token = await readToken({ env: process.env.FIRMLAKE_TOKEN })
  return createService({ url, token, ...(share !== undefined && { maxRequestsPerSecond: share }) })
}

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
export const workRun = async (options: WorkRunOptions): Promise<WorkSummary> => {
  checkOptions('workRun', WORK_OPTIONS, options)
  const { concurrency = DEFAULT_CONCURRENCY, service = serviceOfEnvironment, ...more } = options
  const choice: UnitChoice = 'units' in options ? { units: options.units } : { shard: options.shard }
  const { workSharedRun } = await import('./work-shared-run.ts')
  return workSharedRun({
    ...more,
    ...{ choice, concurrency, service: async (url, share) => service(url, share) },
  })
}

/** Options of `commitRun`. */
export interface CommitRunOptions
  extends RunStep,
    Omit<CommonOptions<CommitRunReport>, 'lake'>,
    Pick<LoadOptions<never>, 'maxQuarantined' | 'changeCurrency' | 'onEvent'> {}

/** The report of a commit of a run. */
export type CommitRunReport =
  | ({ readonly kind: 'committed' } & RunReport)
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
export const commitRun = async (options: CommitRunOptions): Promise<CommitRunReport & TargetsSummary> => {
  checkOptions('commitRun', COMMIT_OPTIONS, options)
  const done = withTargets<CommitRunReport>(options, async () => {
    const { run } = options
    const { commitSharedRun } = await import('./commit-shared-run.ts')
    const { loaded, report } = await measured(settingsOf(options), (watched) =>
      commitSharedRun({ ...watched, run }),
    )
    return loaded.kind === 'committed' ? { kind: 'committed', ...report(loaded.summary) } : loaded
  })
  return done.then((one) => allDelivered(one, one.kind === 'committed' ? [one] : []))
}

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
export const runStatus = async (options: RunStep): Promise<SharedRunStatus> => {
  checkOptions('runStatus', STEP_OPTIONS, options)
  const { lake, run } = options
  const { sharedRunStatus } = await import('./shared-run.ts')
  return sharedRunStatus(lake, run)
}

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
export const cancelRun = async (options: RunStep): Promise<number | null> => {
  checkOptions('cancelRun', STEP_OPTIONS, options)
  const { lake, run } = options
  const { cancelSharedRun } = await import('./shared-run.ts')
  return cancelSharedRun(lake, run)
}

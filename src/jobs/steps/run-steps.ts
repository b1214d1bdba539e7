/**
 * A run in steps that any machine can take: `planRun`, then `workRun` for each unit by any number of processes, then
 * `commitRun`. They share nothing but what is stored in the lake. Each step imports what it works with when it is called: a
 * worker is a process, and there are many.
 */

import { LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { RunEvent } from '../../run/work/progress.ts'
import type { Service } from '../../source/service/service.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { allDelivered } from '../common/all-delivered.ts'
import type { BatchFiles } from '../common/inputs.ts'
import {
  type CommonOptions,
  given,
  type LoadOptions,
  measured,
  runOptionsOf,
  withTargets,
} from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'
import { DEFAULT_CONCURRENCY } from '../common/service-job.ts'
import type { ConvertOptions } from '../convert/convert.ts'
import type { PullOptions } from '../pull/pull.ts'
import type { SyncOptions } from '../sync/sync.ts'
import type { PlannedRun, SharedJob } from './plan-shared-run.ts'
import type { SharedRunStatus } from './shared-run-status.ts'
import type { UnitChoice, UnitOutcome, WorkSummary } from './work-shared-run.ts'

/** What a run of many machines loads. */
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
    /** Peak memory of a worker, in bytes: the size of blocks follows from it. @default 1 GiB */
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
      const { from, content, search, currency, since, until, by, closeGap } = options
      const { cap = LIMITS.cursorCap, pageSize = LIMITS.pageSize.most } = options
      const { exactSearch } = await import('../pull/exact-search.ts')
      return {
        ...{
          kind: 'pull',
          url: from.url,
          content,
          search: exactSearch(search),
          currency,
          since,
          until,
          by,
          cap,
          pageSize,
        },
        ...(closeGap === false && { closeGap }),
      }
    }
    case 'sync': {
      const { from, search, currency, by, closeGap } = options
      const { exactSearch } = await import('../pull/exact-search.ts')
      const asked = { search: exactSearch(search), currency, by, ...(closeGap === false && { closeGap }) }
      const { syncSettings } = await import('../sync/find-changes.ts')
      return { kind: 'sync', url: from.url, ...syncSettings(asked) }
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
  const { lake, memoryBytes, threads, maxUnknownPerRecord, maxUnknownNames, changeCurrency, mode } = options
  const { again, skipBadFiles, unitBytes, maxRequestsPerSecond: requestsPerSecond, signal } = options
  const { take, hashKey, changeTaken } = options
  const limits =
    options.load === 'convert'
      ? given({ maxLineBytes: options.maxLineBytes, maxRatio: options.maxRatio, maxDepth: options.maxDepth })
      : {}
  const { planSharedRun } = await import('./plan-shared-run.ts')
  return planSharedRun({
    ...{ lake, memoryBytes, threads, maxUnknownPerRecord, maxUnknownNames, changeCurrency, mode, signal },
    ...{ job: await jobOf(options), limits, again, skipBadFiles, unitBytes, requestsPerSecond },
    ...{ take, changeTaken, hashKey },
    service: planningService(options),
  })
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
    /** Peak memory in all, in bytes: as much as the run was planned with. @default 1 GiB */
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
  const { openService } = await import('../../source/service/service.ts')
  const { readToken } = await import('../../source/service/token.ts')
  const { checkPlanOrigin } = await import('../../source/service/address.ts')
  checkPlanOrigin(process.env.FIRMLAKE_URL, url)
  const token = await readToken({ env: process.env.FIRMLAKE_TOKEN })
  return openService({ url, token, ...(share !== undefined && { maxRequestsPerSecond: share }) })
}

/**
 * Loads units of a run: some by their ids, or each `of`-th. A unit that is done already is left alone; one that several
 * processes work on at the same time is done once. Killed at any point, the same call goes on.
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

/** What a commit of a run did. */
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
export const commitUnits = (options: CommitRunOptions): Promise<CommitRunReport & TargetsSummary> => {
  const done = withTargets<CommitRunReport>(options, async () => {
    const { run } = options
    const { commitSharedRun } = await import('./commit-shared-run.ts')
    const { loaded, report } = await measured(runOptionsOf(options), (watched) =>
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
export const runStatus = async ({ lake, run }: RunStep): Promise<SharedRunStatus> => {
  const { sharedRunStatus } = await import('./shared-run-status.ts')
  return sharedRunStatus(lake, run)
}

/**
 * Ends a run without a commit: its workers find it gone. Stopped halfway, the same call goes on. What they have loaded goes
 * with `collectGarbage`.
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
export const cancelRun = async ({ lake, run }: RunStep): Promise<number | null> => {
  const { cancelSharedRun } = await import('./shared-run-status.ts')
  return cancelSharedRun(lake, run)
}

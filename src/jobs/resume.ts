/** `resume`: interrupted runs continued to their end, whatever they load, in one call. */

import type { SnapshotAudit } from '../commit/check-before.ts'
import { DEFAULT_MEMORY_BYTES } from '../core/memory-shares.ts'
import type { PartitionEntry } from '../core/partition.ts'
import type { Source } from '../core/source.ts'
import { finishDeadForgets } from '../forget/finish-forget.ts'
import type { CommitHeld } from '../forget/hold-again.ts'
import { filesOfJob } from '../kinds/convert-kind.ts'
import { isLoad, jobKind, loadOf } from '../kinds/kinds.ts'
import { writingLakeFilesOnce } from '../manifest/lake-file/lake-file.ts'
import { type DoneWork, together } from '../manifest/runs/journal-lines.ts'
import { isSharedRun } from '../manifest/runs/run-lease.ts'
import { isOwnPlan, listRuns, lookUpRun, type RunSummary } from '../manifest/runs/runs.ts'
import type { HeldSnapshot } from '../manifest/snapshots/held.ts'
import { ensureRecord } from '../manifest/snapshots/snapshots.ts'
import type { Read } from '../options/entry.ts'
import type { ResumeOptions } from '../options/interfaces.ts'
import { MAX_GONE, MAX_QUARANTINED } from '../options/lake-jobs.ts'
import { RESUME } from '../options/resume.ts'
import { CONCURRENCY } from '../options/service.ts'
import { readLimit } from '../options/value-types.ts'
import { commitDone, type LoadSummary } from '../run/commit-loaded.ts'
import { letLoad } from '../run/discard-held.ts'
import { factsOfJobs, loadIntoLake, type RunOptions, workDone } from '../run/load-into-lake.ts'
import { allDelivered } from '../run/load-job.ts'
import { notResumable, type OpenedJob } from '../run/opened-job.ts'
import { planOf, type RunPlan } from '../run/run-plan.ts'
import type { RunReport } from '../run/run-report.ts'
import { isWithin } from '../run/same-work.ts'
import { attempt, type RunScope, withResumedRun } from '../run/with-run.ts'
import { CODES_OF_ONE_FILE } from '../run/work/known-sources.ts'
import { interruptedOr } from '../run/work/load-sources.ts'
import { openServices, serviceOfEnvironment } from '../source/service/open-services.ts'
import type { Service } from '../source/service/service.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'

/** The outcome of an interrupted run. */
export type ResumedRun =
  | { readonly kind: 'loaded'; readonly report: RunReport }
  /** The run had committed before its process went; only its folder was left. */
  | { readonly kind: 'committed'; readonly run: string; readonly snapshot: number }
  /** The failure does not stop the others. */
  | { readonly kind: 'failed'; readonly run: string; readonly error: unknown }

/** The outcomes of interrupted runs, oldest first. */
export interface ResumeReport {
  readonly runs: readonly ResumedRun[]
  /** Why `lake.duckdb` or `lake.ducklake` was not written behind several runs; absent where those that the lake is to have were. */
  readonly noViews?: string
}

type Asked = Read<ResumeOptions, typeof RESUME>

/**
 * Resumes one run, without its targets.
 *
 * @param isHeld its snapshot is held back: what was loaded is committed, and no source is read
 * @throws {ToolkitError} as `resume` of one run
 */
export const resumeOne = async (
  run: string,
  options: Asked & Pick<RunOptions, 'audit'>,
  isHeld = false,
): Promise<ResumedRun> => {
  const { concurrency, service = (url: string) => serviceOfEnvironment(url, { concurrency }) } = options
  const maxQuarantined = readLimit(options.maxQuarantined) ?? MAX_QUARANTINED.default.value
  const { loaded, report } = await measured({ ...options, maxQuarantined, service }, (watched) =>
    takeOver(run, watched, isHeld),
  )
  return loaded.kind === 'loaded' ? { kind: 'loaded', report: report(loaded.summary) } : loaded
}

const resumed = lakeJob<ResumeOptions, typeof RESUME, ResumeReport>('resume', RESUME, async (options) => {
  const { lake, run, signal } = options
  await letLoad(lake)
  if (run !== undefined) return { runs: [await resumeOne(run, options)] }
  const runs: ResumedRun[] = []
  let noViews: string | undefined
  const resumeAll = async (): Promise<void> => {
    for (const id of (await sortUnfinished(lake, options)).resumable) {
      const one = resumeOne(id, options).catch((error: unknown): ResumedRun => {
        if (signal?.aborted) throw error
        return { kind: 'failed', run: id, error }
      })
      runs.push(await one)
    }
  }
  await writingLakeFilesOnce(resumeAll, (reason) => {
    noViews = reason
  })
  return { runs, ...(noViews !== undefined && { noViews }) }
})

/**
 * Resumes one run whose process is gone, or all of them, each at its last finished partition; without `run` those that would
 * fail again are left alone, unless the given options may resolve it. Then published tables and sinks are updated.
 *
 * @returns what became of each run, and what the targets received
 * @throws {ToolkitError} of the one run that was named: `RUN_NOT_FOUND`, `RUN_LIVE`, `RUN_NOT_RESUMABLE` (standard input and
 *   records of a program that are not loaded to their end cannot be read again), and whatever stops a run; `INTERRUPTED`, `USAGE`, `PLAN_ORIGIN`; `COMPANIES_MISSING` as
 *   `sync`; what `updateTargets` throws
 * @example
 * import { convert, resume } from 'firmlake'
 *
 * const stopped = convert({ from: ['batches/'], lake: './lake', signal: AbortSignal.timeout(1) })
 * await stopped.catch(() => 'what is finished is kept')
 * const { runs } = await resume({ lake: './lake' })
 * console.log(runs.every(({ kind }) => kind !== 'failed')) // true
 */
export const resume = async (options: ResumeOptions): Promise<ResumeReport & TargetsSummary> => {
  const done = await resumed(options)
  allDelivered(done.runs.flatMap(reportIn))
  return done
}

const reportIn = (run: ResumedRun): readonly RunReport[] => (run.kind === 'loaded' ? [run.report] : [])

type Resumed =
  | { readonly kind: 'loaded'; readonly summary: LoadSummary }
  | Exclude<ResumedRun, { kind: 'loaded' }>

/** Unfinished runs, oldest first. */
interface UnfinishedRuns {
  /** Their process is gone, and another attempt may succeed. */
  readonly resumable: readonly string[]
  /** Running, possibly running on another host, or one that many machines work on. */
  readonly working: readonly RunSummary[]
  /** They can only fail again. */
  readonly final: readonly RunSummary[]
}

export type Strictness = Pick<ResumeOptions, 'maxQuarantined' | 'changeCurrency' | 'skipBadFiles'>

/** Failures that the given options may resolve. */
const changedBy = ({ maxQuarantined, changeCurrency, skipBadFiles }: Strictness): ReadonlySet<string> =>
  new Set([
    ...(maxQuarantined === undefined ? [] : ['QUARANTINE_LIMIT']),
    ...(changeCurrency ? ['CURRENCY_CHANGED'] : []),
    ...(skipBadFiles ? CODES_OF_ONE_FILE : []),
  ])

/** Sorts the unfinished runs of a lake. @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_DAMAGED */
export const sortUnfinished = async (lake: string, options: Strictness = {}): Promise<UnfinishedRuns> => {
  const changed = changedBy(options)
  const runs = await listRuns(lake, { now: new Date() })
  const final = runs.filter(({ failure }) => failure?.final && !changed.has(failure.code))
  const isWorking = ({ state, shared }: RunSummary): boolean => state !== 'gone' || shared === true
  return {
    resumable: runs.filter((one) => !isWorking(one) && !final.includes(one)).map(({ run }) => run),
    working: runs.filter(isWorking),
    final,
  }
}

const takeOver = async (run: string, options: JobOptions, isHeld: boolean): Promise<Resumed> => {
  const { lake } = options
  const { seen, snapshot } = await lookUpRun(lake, run)
  // A run without any owner is removed as it fails.
  if (seen && seen.shared !== 'none' && seen.number > 0)
    throw notResumable(run, 'many machines work on it, "firmlake run work" and "firmlake run commit" go on')
  const committed = seen && snapshot ? snapshot.snapshot : null
  // The resumed run itself goes with what is finished.
  if (committed !== null && (await finishDeadForgets({ lake }, holdBackAgain)).includes(committed))
    return { kind: 'committed', run, snapshot: committed }
  return withResumedRun(lake, run, new Date(), async (scope) => {
    if (committed === null) {
      const plan = await planOf(lake, run)
      // The run's files would be read with the rights of this user, who names none of them.
      if (!isHeld && plan.jobs.some(({ kind }) => kind === 'convert') && !(await isOwnPlan(lake, run)))
        throw notResumable(
          run,
          'its plan is of another user and may name any file; call the command that began it, it resumes the run',
        )
      const load = () => (isHeld ? commitHeld(scope, plan, options) : loadJobs(scope, plan, options))
      return { kind: 'loaded', summary: await attempt(scope, plan, load) }
    }
    await ensureRecord(lake, committed)
    return { kind: 'committed', run, snapshot: committed }
  })
}

export interface JobOptions extends RunOptions {
  /** Opens the service at an address, for the kinds of jobs that call one. It is closed when the run ends. */
  readonly service: (url: string) => Service | Promise<Service>
  /** Windows pulled, or files downloaded, side by side. */
  readonly concurrency: number
}

/**
 * The work of a run of one job, where an earlier attempt has done all of it, of files only where those that are there are what
 * they were.
 */
const stillDone = async (
  run: RunScope,
  { jobs: [job, ...others] }: RunPlan,
  { signal }: JobOptions,
): Promise<DoneWork | undefined> => {
  const done = others.length === 0 ? await workDone(run, signal) : undefined
  if (done === undefined || job.kind !== 'convert') return done
  const files = await filesOfJob(job).catch(() => [])
  return (await isWithin(done.result.read, files, signal)) ? done : undefined
}

/** Loads all jobs of a plan in one commit; what an earlier attempt has loaded to its end is committed. @throws {ToolkitError} RUN_NOT_RESUMABLE, and whatever stops a run */
export const loadJobs = async (run: RunScope, plan: RunPlan, options: JobOptions): Promise<LoadSummary> => {
  const { signal, onEvent } = options
  const services = openServices(options.service)
  const { open: service } = services
  try {
    const done = await stillDone(run, plan, options)
    if (done) {
      const [job] = plan.jobs
      const factsOf = isLoad(job) ? await (await jobKind(job)).facts?.(run, job, service, signal) : undefined
      onEvent?.({ kind: 'started', run: run.run, resumed: true, finished: done.entries.length })
      const facts = (own: readonly PartitionEntry[]) => [factsOf?.(own)]
      return await commitDone(run, plan, together([done]), facts, options).catch((error) => {
        throw interruptedOr(error, run.run, signal)
      })
    }
    const jobs: OpenedJob[] = []
    for (const [place, one] of plan.jobs.entries()) {
      const job = loadOf(run.run, one)
      const kind = await jobKind(job)
      jobs.push(await kind.open({ ...run, job: place }, job, plan.limits, { ...options, service }))
    }
    return await loadIntoLake(run, jobs, options)
  } finally {
    await services.close()
  }
}

/** A window that is loaded. */
const loadedWindow = (name: string): Source => ({ kind: 'search', name, open: async function* () {} })

/** Whatever it was refused with would have refused it before it was held back. */
const AS_IT_IS = { changeCurrency: true, maxQuarantined: { kind: 'share', share: 1 } } as const

interface HeldOptions
  extends Pick<Asked, 'lake' | 'memoryBytes' | 'threads' | 'maxGone' | 'signal' | 'onEvent' | 'service'> {
  readonly audit: SnapshotAudit
}

/**
 * Commits the work of a load that is held back, without its sources, unless the audit holds it back again.
 *
 * @returns `undefined` where another call has committed it
 */
export const commitHeldRun = async (
  { run }: Pick<HeldSnapshot, 'run'>,
  { service, ...options }: HeldOptions,
): Promise<RunReport | undefined> => {
  const { lake } = options
  const asked = { ...options, run, ...AS_IT_IS }
  if (!(await isSharedRun(lake, run))) {
    const done = await resumeOne(run, { ...asked, service, concurrency: CONCURRENCY.default.value }, true)
    return done.kind === 'loaded' ? done.report : undefined
  }
  const { commitSharedRun } = await import('../shared-run/commit-shared-run.ts')
  const open = async (url: string, share: number | undefined) =>
    service ? service(url) : serviceOfEnvironment(url, { maxRequestsPerSecond: share })
  const { loaded, report } = await measured(asked, (watched) =>
    commitSharedRun({ ...watched, service: open }),
  )
  return loaded.kind === 'committed' ? report(loaded.summary) : undefined
}

/** The checks that have held a load back hold it back again. */
export const holdBackAgain: CommitHeld = (lake, held) =>
  commitHeldRun(held, {
    ...{ lake, memoryBytes: DEFAULT_MEMORY_BYTES, maxGone: MAX_GONE.default.value },
    audit: async () => ({ worse: held.checks, asBefore: [], results: held.results ?? held.checks }),
  })

/**
 * Commits what a run has loaded to its end, of whichever jobs. A service is called only where it is asked for companies that have left.
 *
 * @throws {ToolkitError} RUN_NOT_RESUMABLE where its files are damaged
 */
const commitHeld = async (run: RunScope, plan: RunPlan, options: JobOptions): Promise<LoadSummary> => {
  const done = await workDone(run, options.signal)
  if (done === undefined) throw notResumable(run.run, 'what it has loaded is damaged')
  const services = openServices(options.service)
  try {
    const jobs: OpenedJob[] = []
    for (const [place, job] of plan.jobs.entries()) {
      if (!isLoad(job)) {
        jobs.push({ place, sources: [] })
        continue
      }
      const kind = await jobKind(job)
      const own = { ...run, job: place }
      const names = (await kind.windowNames?.(own, job)) ?? []
      const facts = await kind.facts?.(own, job, services.open, options.signal)
      jobs.push({ place, sources: names.map(loadedWindow), facts })
    }
    const facts = (own: readonly PartitionEntry[]) => factsOfJobs(jobs, own)
    return await commitDone(run, plan, together([done]), facts, options)
  } finally {
    await services.close()
  }
}

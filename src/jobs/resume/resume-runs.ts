/** Resumes runs whose process is gone, whatever they load. */

import { DEFAULT_MAX_QUARANTINED, parseQuarantineLimit } from '../../commit/quarantine-limit.ts'
import { ToolkitError } from '../../core/errors.ts'
import { listRuns, type RunSummary } from '../../manifest/runs/runs.ts'
import { ensureRecord } from '../../manifest/snapshots/snapshots.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { notResumable } from '../../run/opened-job.ts'
import { planOf } from '../../run/run-plan.ts'
import { attempt, withResumedRun } from '../../run/with-run.ts'
import { CODES_OF_ONE_FILE } from '../../run/work/known-sources.ts'
import { checkPlanOrigin } from '../../source/service/plan-origin.ts'
import { openService, type Service } from '../../source/service/service.ts'
import { readToken } from '../../source/service/token.ts'
import { isRunId } from '../../support/run-ids.ts'
import { finishDeadForgets } from '../forget/finish-forget.ts'
import { type JobOptions, loadJobs } from './load-jobs.ts'

type Defaulted = 'limit' | 'service' | 'concurrency'

export interface ResumeRunsOptions extends Omit<JobOptions, Defaulted | 'mode'> {
  /** Id of the run. @default all that were interrupted, except those that would fail again */
  readonly run?: string | undefined
  /** Given, runs that were refused for their bad lines are tried again too. @default 1% */
  readonly limit?: JobOptions['limit'] | undefined
  /**
   * Opens the service of a run that pulls from one; the run's plan has its address.
   * @default with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL
   */
  readonly service?: JobOptions['service'] | undefined
  /** Windows pulled, or files downloaded, side by side. @default 4 */
  readonly concurrency?: number | undefined
}

export type Resumed =
  | { readonly kind: 'loaded'; readonly summary: LoadSummary }
  /** It had committed before its process went; only its folder was left. */
  | { readonly kind: 'committed'; readonly run: string; readonly snapshot: number }

/** A run that could not be resumed; it does not stop the others. */
export interface ResumeFailed {
  readonly kind: 'failed'
  readonly run: string
  readonly error: unknown
}

const CONCURRENCY = 4

/** Unfinished runs, oldest first. */
export interface UnfinishedRuns {
  /** Their process is gone, and another attempt may succeed. */
  readonly resumable: readonly string[]
  /** Running, possibly running on another host, or one that many machines work on. */
  readonly working: readonly RunSummary[]
  /** They can only fail again. */
  readonly final: readonly RunSummary[]
}

type Strictness = Pick<ResumeRunsOptions, 'limit' | 'changeCurrency' | 'skipBadFiles'>

/** Failures that the given options may resolve. */
const changedBy = ({ limit, changeCurrency, skipBadFiles }: Strictness): ReadonlySet<string> =>
  new Set([
    ...(limit ? ['QUARANTINE_LIMIT'] : []),
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

const openWithEnvironment = async (url: string, concurrency: number): Promise<Service> => {
  checkPlanOrigin(process.env.FIRMLAKE_URL, url)
  return openService({ url, token: await readToken({ env: process.env.FIRMLAKE_TOKEN }), concurrency })
}

const resumeOne = async (run: string, options: ResumeRunsOptions): Promise<Resumed> => {
  const { lake, concurrency = CONCURRENCY } = options
  const {
    limit = parseQuarantineLimit(DEFAULT_MAX_QUARANTINED),
    service = (url: string) => openWithEnvironment(url, concurrency),
  } = options
  if (!isRunId(run))
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot resume run "${run}": it is not the id of a run`, { run })
  const now = new Date()
  const found = (await listRuns(lake, { now })).find((one) => one.run === run)
  if (found?.shared)
    throw notResumable(run, 'many machines work on it, "firmlake run work" and "firmlake run commit" go on')
  const committed = found?.committed ?? null
  // Its own run goes with what is finished.
  if (committed !== null && (await finishDeadForgets({ lake })).includes(committed))
    return { kind: 'committed', run, snapshot: committed }
  return withResumedRun(lake, run, now, async (scope) => {
    if (committed === null) {
      const plan = await planOf(lake, run)
      const load = () => loadJobs(scope, plan, { ...options, limit, concurrency, service })
      return { kind: 'loaded', summary: await attempt(scope, plan, load) }
    }
    await ensureRecord(lake, committed)
    return { kind: 'committed', run, snapshot: committed }
  })
}

/**
 * Resumes one run, or all that were interrupted, each at its last finished partition.
 *
 * @returns what became of each; a run that fails does not stop the others
 * @throws {ToolkitError} of the one run that was asked for: RUN_NOT_FOUND, RUN_LIVE, RUN_NOT_RESUMABLE (standard input
 *   cannot be read again), and whatever stops a run; INTERRUPTED
 */
export const resumeRuns = async (
  options: ResumeRunsOptions,
): Promise<readonly (Resumed | ResumeFailed)[]> => {
  if (options.run !== undefined) return [await resumeOne(options.run, options)]
  const outcomes: (Resumed | ResumeFailed)[] = []
  for (const run of (await sortUnfinished(options.lake, options)).resumable) {
    try {
      outcomes.push(await resumeOne(run, options))
    } catch (error) {
      if (options.signal?.aborted) throw error
      outcomes.push({ kind: 'failed', run, error })
    }
  }
  return outcomes
}

/**
 * Commits a run whose units are all done. Anyone may, again and at once with others: one of them makes the snapshot, and
 * the others find it.
 */

import { randomBytes } from 'node:crypto'
import { checkPlaced } from '../commit/files-of-run.ts'
import { ToolkitError } from '../core/errors.ts'
import { jobKind, loadOf } from '../kinds/kinds.ts'
import { readAllWork } from '../manifest/runs/journal.ts'
import type { AllWork } from '../manifest/runs/journal-lines.ts'
import { isSharedRun } from '../manifest/runs/run-lease.ts'
import { removeRunFolder } from '../manifest/runs/runs.ts'
import { endRun, markCommit, recordEnded, unmarkCommit } from '../manifest/runs/shared-commits.ts'
import { ensureRecord } from '../manifest/snapshots/snapshots.ts'
import { type CommitOptions, commitDone, type LoadSummary } from '../run/commit-loaded.ts'
import type { RunOptions } from '../run/load-into-lake.ts'
import { withScratch } from '../run/scratch.ts'
import { openServices } from '../source/service/open-services.ts'
import type { Service, ServiceCounters } from '../source/service/service.ts'
import {
  checkRelease,
  hasNothing,
  NAMED_UNITS,
  notFound,
  openOf,
  type SharedRun,
  takeStep,
} from './shared-run.ts'

export interface CommitSharedOptions
  extends Pick<RunOptions, 'lake' | 'memoryBytes' | 'threads'>,
    Omit<CommitOptions, 'attempt' | 'isPlaced'> {
  readonly run: string
  /** Opens the service of the plan, where it is asked whether it still lists companies; closed behind the commit. */
  readonly service: (url: string, share: number | undefined) => Promise<Service>
}

export type CommittedRun =
  | {
      readonly kind: 'committed'
      readonly summary: LoadSummary
      /** Requests to the service; absent where none was called. */
      readonly requests: ServiceCounters | undefined
    }
  /** Another call had committed it; `null`: it had found nothing new. */
  | { readonly kind: 'already'; readonly run: string; readonly snapshot: number | null }

/** @throws {ToolkitError} RUN_INCOMPLETE naming the first units that are not done */
const doneWork = async (shared: SharedRun): Promise<AllWork> => {
  const { units, seen } = shared
  const { lake, run } = seen
  const open = await openOf(shared, units)
  if (open.length === 0) return readAllWork(lake, run)
  const named = open.slice(0, NAMED_UNITS).join(', ')
  const more = open.length > NAMED_UNITS ? ', …' : ''
  throw new ToolkitError(
    'RUN_INCOMPLETE',
    `Cannot commit run "${run}": ${open.length} of ${units.length} units are not done (${named}${more})`,
    { run, open: open.length, units: units.length, first: open[0] ?? 0 },
  )
}

const commitOpen = async (
  shared: SharedRun,
  { service, ...options }: CommitSharedOptions,
): Promise<Extract<CommittedRun, { kind: 'committed' }>> => {
  const { plan, seen, requestsPerSecond } = shared
  const { lake, run } = seen
  checkRelease(shared)
  const work = await doneWork(shared)
  const attempt = randomBytes(4).toString('hex')
  // No worker is left that the requests a second would be shared with.
  const services = openServices((url) => service(url, requestsPerSecond))
  try {
    const job = loadOf(run, plan.jobs[0])
    const factsOf = await (await jobKind(job)).facts?.(seen, job, services.open, options.signal)
    await checkPlaced(seen, work.entries, options.signal)
    await markCommit(lake, run, attempt)
    if (!(await isSharedRun(lake, run))) throw notFound(run, 'it was removed meanwhile')
    const summary = await withScratch((scratch) =>
      commitDone({ ...seen, scratch }, { limits: plan.limits }, work, (own) => [factsOf?.(own)], {
        ...options,
        attempt,
        isPlaced: true,
      }),
    )
    return { kind: 'committed', summary, requests: await services.counters() }
  } catch (error) {
    await leaveCommit(lake, run, attempt).catch(() => undefined)
    throw withWayOut(error)
  } finally {
    await services.close()
  }
}

/** The work of a unit is recorded once and for all: if a file of it is damaged, the run has to be planned anew. */
const withWayOut = (error: unknown): unknown => {
  if (!(error instanceof ToolkitError) || error.code !== 'RUN_NOT_RESUMABLE') return error
  const { message, context } = error
  return new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `${message}; "firmlake run cancel" ends it, then plan it again`,
    context,
    error,
  )
}

/** A run that was ended while it was committed is left to the last commit that fails. */
const leaveCommit = async (lake: string, run: string, attempt: string): Promise<void> => {
  await unmarkCommit(lake, run, attempt)
  if (!(await isSharedRun(lake, run))) await endRun(lake, run)
}

/**
 * Commits a run and removes its folder.
 *
 * @throws {ToolkitError} RUN_INCOMPLETE, RUN_NOT_FOUND, RUN_OTHER_RELEASE, RUN_NOT_RESUMABLE where a file is not what a worker
 *   recorded (only a cancel frees the plan), QUARANTINE_LIMIT, CURRENCY_CHANGED (the run
 *   stays: the same with a higher limit, or with `changeCurrency`), and what a commit throws; nothing is visible then
 */
export const commitSharedRun = async (options: CommitSharedOptions): Promise<CommittedRun> => {
  const { lake, run } = options
  const taken = await takeStep(options, async (shared) => {
    const committed = await commitOpen(shared, options)
    // The lake shows nothing of it: without a trace the same call again would find no run.
    if (committed.summary.snapshot === undefined) await recordEnded(lake, run)
    await removeRunFolder(lake, run)
    return committed
  })
  if (taken.kind === 'taken') return taken.result
  if (taken.kind === 'cancelled') throw hasNothing(run, taken.kind)
  if (taken.kind === 'ended') {
    // The run's trace says how it ended, and its folder goes with gc where it cannot be removed now.
    await removeRunFolder(lake, run).catch(() => undefined)
    return { kind: 'already', run, snapshot: null }
  }
  const { snapshot } = taken.snapshot
  // The one that committed it may have been killed before it was done with the rest.
  await ensureRecord(lake, snapshot)
  await removeRunFolder(lake, run)
  return { kind: 'already', run, snapshot }
}

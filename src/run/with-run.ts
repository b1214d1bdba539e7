/** The scope of a run: from its lease to its removal or release. */

import { randomBytes } from 'node:crypto'
import { inStage } from '../core/stages.ts'
import { startHeartbeat } from '../manifest/runs/heartbeat.ts'
import { leaseRun, type RunLease, releaseRun } from '../manifest/runs/run-lease.ts'
import { removeRun } from '../manifest/runs/runs.ts'
import { pipelineOf, type RunPlan } from './run-plan.ts'
import { type StartRequest, startRun } from './start-run.ts'
import { type TakeOptions, takeOfRun } from './take-of-run.ts'

export interface RunScope extends RunLease {
  /**
   * From here on there is something to resume: a run that fails is released for another attempt. A new run that fails
   * before is removed.
   */
  readonly keep: () => void
  /** The snapshot that shows it already: whoever committed it was stopped before the run was removed. @default none */
  readonly committed?: number | undefined
}

/**
 * Holds a lease with its heartbeat while the work runs. The run is removed when the work succeeds; when it fails, it is
 * released for another attempt, or removed where there is nothing to resume.
 */
const withLease = async <T>(
  lease: RunLease & Pick<RunScope, 'committed'>,
  work: (run: RunScope) => Promise<T>,
): Promise<T> => {
  let kept = lease.number > 1
  const heartbeat = startHeartbeat(lease)
  try {
    const result = await work({ ...lease, keep: () => (kept = true) })
    await heartbeat.stop()
    await removeRun(lease)
    return result
  } catch (error) {
    await heartbeat.stop()
    const release = (): Promise<void> => releaseRun(lease, error)
    await (kept ? release() : removeRun(lease).catch(release)).catch(() => undefined)
    throw error
  }
}

/** Resumes the interrupted run of a plan, or begins one, and works on it. @param request `taking` of a run that loads: what is declared of it */
export const withRun = async <T>(
  { taking, ...asked }: Omit<StartRequest, 'now' | 'random'> & { readonly taking?: TakeOptions },
  work: (run: RunScope) => Promise<T>,
): Promise<T> => {
  const plan = { ...asked.plan, ...(taking && (await takeOfRun(asked.lake, taking))) }
  const request = { ...asked, plan }
  const lease = await startRun({ ...request, now: new Date(), random: randomBytes })
  return withLease(lease, (run) => attempt(run, request.plan, () => work(run)))
}

/** An attempt at a run, for whoever listens. */
export const attempt = <T>(
  { lake, run, number }: RunLease,
  plan: Pick<RunPlan, 'jobs'>,
  work: () => Promise<T>,
): Promise<T> => inStage({ stage: 'run', lake, run, pipeline: pipelineOf(plan), attempt: number }, work)

/** Takes over a run by its id. @throws {ToolkitError} RUN_NOT_FOUND, RUN_LIVE */
export const withResumedRun = async <T>(
  lake: string,
  run: string,
  now: Date,
  work: (run: RunScope) => Promise<T>,
): Promise<T> => withLease(await leaseRun(lake, run, { now }), work)

/** The scope of a run: from its lease to the end of it, whatever the end is. */

import { randomBytes } from 'node:crypto'
import { startHeartbeat } from '../../manifest/heartbeat.ts'
import { leaseRun, type RunLease, releaseRun } from '../../manifest/run-lease.ts'
import { removeRun } from '../../manifest/runs.ts'
import { type StartRequest, startRun } from './start-run.ts'

export interface RunScope extends RunLease {
  /**
   * Says that there is something to resume from here on: a failure leaves the run for another attempt. A new run that
   * fails before it is removed.
   */
  readonly keep: () => void
}

/**
 * Holds a lease while work goes on, and shows that it does. The run is removed when the work succeeds; when it fails,
 * released for another attempt, or removed where nothing of it is worth that.
 */
const withLease = async <T>(lease: RunLease, work: (run: RunScope) => Promise<T>): Promise<T> => {
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

/** Takes up the run of a plan that was cut off, or begins it, and works on it. */
export const withRun = async <T>(
  request: Omit<StartRequest, 'now' | 'random'>,
  work: (run: RunScope) => Promise<T>,
): Promise<T> => withLease(await startRun({ ...request, now: new Date(), random: randomBytes }), work)

/** Takes over a run by its id. @throws {ToolkitError} RUN_NOT_FOUND, RUN_LIVE */
export const withResumedRun = async <T>(
  lake: string,
  run: string,
  now: Date,
  work: (run: RunScope) => Promise<T>,
): Promise<T> => withLease(await leaseRun(lake, run, { now }), work)

/**
 * The heartbeat of a run: rewrites its owner file every hour. Where its process cannot be seen (another
 * machine works into the same bucket), the times of its files show whether it is alive, and one partition may take long.
 */

import { hostname } from 'node:os'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal } from '../../support/hash.ts'
import { type ProcessIdentity, thisProcess } from '../../support/process-identity.ts'
import { isSharedRun, ownerName, ownerText, type RunLease } from './run-lease.ts'

/** Far below `DAY_MS`, so that a storage that is down for hours does no harm. */
const HEARTBEAT_MS = 3_600_000

/** The caller stops it before the lease is released or the run removed. */
export interface Heartbeat {
  /** When it resolves, nothing is being written. May be called again. */
  readonly stop: () => Promise<void>
}

/** Rewrites an owner file if it still exists: a removed run must not come back as its owner file alone. */
export const sendHeartbeat = async (
  { lake, run, number, base }: RunLease,
  process: ProcessIdentity = thisProcess(),
): Promise<void> => {
  const storage = storageOf(lake)
  const path = `${runPath(run)}/${ownerName(number)}`
  if (await storage.stat(path)) await storage.replace(path, ownerText(base, process))
}

/** Starts the heartbeat of a run; its timer keeps no process alive. */
export const startHeartbeat = (lease: RunLease): Heartbeat => {
  let last = Promise.resolve()
  const timer = setInterval(() => {
    // A failed heartbeat is made up for by the next one.
    last = last.then(() => sendHeartbeat(lease).catch(() => undefined))
  }, HEARTBEAT_MS)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await last
    },
  }
}

const BEAT_MS = 5 * 60_000

/** Host and pid: names the worker for a person. */
export const workerName = (): string => `${hostname()}-${process.pid}`

/** Writes that this process works on a run, if the run still stands: a removed one must not come back. */
export const beat = async (lake: string, run: string, at: Date): Promise<void> => {
  if (!(await isSharedRun(lake, run))) return
  const text = seal(JSON.stringify({ by: workerName(), at: at.toISOString() }))
  const name = workerName().replaceAll(/[^\w.-]/g, '_')
  await storageOf(lake).replace(`${runPath(run)}/beats/${name}.json`, `${text}\n`)
}

/** Starts to beat; the timer keeps no process alive. */
export const startBeats = (lake: string, run: string): Heartbeat => {
  let last = Promise.resolve()
  const timer = setInterval(() => {
    // A beat that failed is made up for by the next one.
    last = last.then(() => beat(lake, run, new Date()).catch(() => undefined))
  }, BEAT_MS)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await last
    },
  }
}

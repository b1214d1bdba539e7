/**
 * Heartbeats of runs: the times of files show whether a run is alive where its process cannot be seen, and one partition or
 * unit may take long. Every five minutes the owner of a run rewrites its owner file; a worker on a run that nobody owns writes a
 * file of its own in the run's folder.
 */

import { hostname } from 'node:os'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal } from '../../support/hash.ts'
import { type ProcessIdentity, thisProcess } from '../../support/process-identity.ts'
import { isSharedRun, ownerName, ownerText, type RunLease } from './run-lease.ts'

/** Far below the times after which a run counts as gone, so that a storage may be down for a while. */
const HEARTBEAT_MS = 5 * 60_000

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

/** Repeats a call; one that fails is made up for by the next one. The timer keeps no process alive. */
const repeat = (everyMs: number, call: () => Promise<void>): Heartbeat => {
  let last = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(() => call().catch(() => undefined))
  }, everyMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await last
    },
  }
}

/** Starts the heartbeat of a run. */
export const startHeartbeat = (lease: RunLease): Heartbeat => repeat(HEARTBEAT_MS, () => sendHeartbeat(lease))

/** Host and pid: names the worker for a person. */
export const workerName = (): string => `${hostname()}-${process.pid}`

/** Writes that this process works on a run, if the run still stands: a removed one must not come back. */
export const beat = async (lake: string, run: string, at: Date): Promise<void> => {
  if (!(await isSharedRun(lake, run))) return
  const text = seal(JSON.stringify({ by: workerName(), at: at.toISOString() }))
  const name = workerName().replaceAll(/[^\w.-]/g, '_')
  await storageOf(lake).replace(`${runPath(run)}/beats/${name}.json`, `${text}\n`)
}

/** Starts the heartbeat of this process on a run that nobody owns. */
export const startBeats = (lake: string, run: string): Heartbeat =>
  repeat(HEARTBEAT_MS, () => beat(lake, run, new Date()))

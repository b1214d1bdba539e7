/**
 * The heartbeat of a worker on a run that nobody owns: a file of its own in the run's folder, written again and again. By
 * it the run counts as alive while a unit takes long.
 */

import { hostname } from 'node:os'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal } from '../../support/sealed-text.ts'
import type { Heartbeat } from './heartbeat.ts'
import { isSharedRun } from './run-lease.ts'

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

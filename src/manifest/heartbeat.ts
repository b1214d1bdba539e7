/**
 * The heartbeat of a run: rewrites its owner file every hour. Where its process cannot be seen (another
 * machine works into the same bucket), the times of its files show whether it is alive, and one partition may take long.
 */

import { runPath } from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'

/** Far below `DAY_MS`, so that a storage that is down for hours does no harm. */
const HEARTBEAT_MS = 3_600_000

interface Heartbeat {
  readonly timer: NodeJS.Timeout
  /** The heartbeat that is under way, or was the last. It never fails. */
  last: Promise<void>
}

const heartbeats = new Map<string, Heartbeat>()

const keyOf = (lake: string, run: string): string => `${run} ${lake}`

/** Rewrites an owner file if it still exists: a removed run must not come back as its owner file alone. */
export const sendHeartbeat = async (
  lake: string,
  run: string,
  owner: string,
  text: string,
): Promise<void> => {
  const storage = storageOf(lake)
  const path = `${runPath(run)}/${owner}`
  if (await storage.stat(path)) await storage.replace(path, text)
}

/** Starts the heartbeat of a run; its timer keeps no process alive. */
export const startHeartbeat = (lake: string, run: string, owner: string, text: string): void => {
  // A failed heartbeat is made up for by the next one.
  const send = (): Promise<void> => sendHeartbeat(lake, run, owner, text).catch(() => undefined)
  const timer = setInterval(() => {
    heartbeat.last = heartbeat.last.then(send)
  }, HEARTBEAT_MS)
  timer.unref()
  const heartbeat: Heartbeat = { timer, last: Promise.resolve() }
  heartbeats.set(keyOf(lake, run), heartbeat)
}

/** Stops the heartbeat, before the run is released or removed. When it resolves, nothing is being written. */
export const stopHeartbeat = async (lake: string, run: string): Promise<void> => {
  const heartbeat = heartbeats.get(keyOf(lake, run))
  if (heartbeat === undefined) return
  clearInterval(heartbeat.timer)
  heartbeats.delete(keyOf(lake, run))
  await heartbeat.last
}

/**
 * Shows every hour that a run is at work, by writing its owner anew: where its process cannot be seen (another
 * machine works into the same bucket), the times of its files tell, and one partition may take long.
 */

import { runPath } from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'

/** Far below `DAY_MS`, so that a storage that does not answer for hours does no harm. */
const HEARTBEAT_MS = 3_600_000

interface Heartbeat {
  readonly timer: NodeJS.Timeout
  /** The beat that is under way, or was the last. It never fails. */
  beat: Promise<void>
}

const heartbeats = new Map<string, Heartbeat>()

const keyOf = (lake: string, run: string): string => `${run} ${lake}`

/** Writes an owner anew if it is still there: a run that was removed must not come back as its owner alone. */
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

/** Begins to show that this process works on a run; it keeps no process alive. */
export const startHeartbeat = (lake: string, run: string, owner: string, text: string): void => {
  // A beat that fails is made up for by the next one.
  const beat = (): Promise<void> => sendHeartbeat(lake, run, owner, text).catch(() => undefined)
  const timer = setInterval(() => {
    heart.beat = heart.beat.then(beat)
  }, HEARTBEAT_MS)
  timer.unref()
  const heart: Heartbeat = { timer, beat: Promise.resolve() }
  heartbeats.set(keyOf(lake, run), heart)
}

/** Ends it, before the run is given up or removed. When it resolves, nothing is being written. */
export const stopHeartbeat = async (lake: string, run: string): Promise<void> => {
  const heart = heartbeats.get(keyOf(lake, run))
  if (heart === undefined) return
  clearInterval(heart.timer)
  heartbeats.delete(keyOf(lake, run))
  await heart.beat
}

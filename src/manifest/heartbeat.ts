/**
 * Shows every hour that a run is at work, by writing its owner anew: where its process cannot be seen (another
 * machine works into the same bucket), the times of its files tell, and one partition may take long.
 */

import { runPath } from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'

/** Far below `DAY_MS`, so that a storage that does not answer for hours does no harm. */
const BEAT_MS = 3_600_000

interface Heart {
  readonly timer: NodeJS.Timeout
  /** The beat that is under way, or was the last. It never fails. */
  beat: Promise<void>
}

const hearts = new Map<string, Heart>()

const keyOf = (lake: string, run: string): string => `${run} ${lake}`

/** Writes an owner anew if it is still there: a run that was removed must not come back as its owner alone. */
export const beatOnce = async (lake: string, run: string, owner: string, text: string): Promise<void> => {
  const storage = storageOf(lake)
  const path = `${runPath(run)}/${owner}`
  if (await storage.look(path)) await storage.replace(path, text)
}

/** Begins to show that this process works on a run; it keeps no process alive. */
export const startHeart = (lake: string, run: string, owner: string, text: string): void => {
  // A beat that fails is made up for by the next one.
  const beat = (): Promise<void> => beatOnce(lake, run, owner, text).catch(() => undefined)
  const timer = setInterval(() => {
    heart.beat = heart.beat.then(beat)
  }, BEAT_MS)
  timer.unref()
  const heart: Heart = { timer, beat: Promise.resolve() }
  hearts.set(keyOf(lake, run), heart)
}

/** Ends it, before the run is given up or removed. When it resolves, nothing is being written. */
export const stopHeart = async (lake: string, run: string): Promise<void> => {
  const heart = hearts.get(keyOf(lake, run))
  if (heart === undefined) return
  clearInterval(heart.timer)
  hearts.delete(keyOf(lake, run))
  await heart.beat
}

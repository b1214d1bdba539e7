/**
 * Moves a server to the newest snapshot of its lake again and again, also where that is an older one or another one of the same number: the index is built by another process and opened beside the one
 * that serves. Whatever fails, the server keeps what it has, and tries again.
 */

import { setTimeout } from 'node:timers/promises'
import { newestNumber, readSnapshotHash } from '../manifest/snapshots/snapshots.ts'
import type { OpenSnapshot, ServedSnapshots } from './served-snapshots.ts'

export interface FollowEvents {
  /** Called when the server has moved to another snapshot. */
  readonly onMove?: ((snapshot: number) => void) | undefined
  /** Called with why it cannot move, once for each reason in a row. */
  readonly onFollowError?: ((reason: Error) => void) | undefined
}

export interface FollowRequest extends FollowEvents {
  readonly lake: string
  /** Milliseconds between two looks for a newer snapshot. */
  readonly everyMs: number
  /** Builds the index of a snapshot where there is none. */
  readonly build: (snapshot: number, signal: AbortSignal) => Promise<void>
  readonly open: (snapshot: number) => Promise<OpenSnapshot>
}

/** After failures the pause is doubled up to so many times. */
const MOST_PAUSES = 32

/** Follows until the signal fires; never fails. */
export const followLake = async (
  served: ServedSnapshots,
  { lake, everyMs, build, open, onMove, onFollowError }: FollowRequest,
  signal: AbortSignal,
): Promise<void> => {
  let failures = 0
  let reported = ''
  const move = async (newest: number): Promise<void> => {
    await build(newest, signal)
    signal.throwIfAborted()
    served.moveTo(await open(newest))
    onMove?.(newest)
  }
  const moveOn = async (): Promise<void> => {
    // Indexes are made in turn: two indexes are what there is memory for.
    if (served.isHeld()) return
    const newest = await newestNumber(lake)
    const { number, sha256 } = served.current
    // After a backup took the lake's place, what is served may be a snapshot that the lake has lost.
    if (newest === number && (await readSnapshotHash(lake, number)) === sha256) return
    try {
      await move(newest)
    } catch (error) {
      // A snapshot that is not the newest any more may have been removed meanwhile: the next one counts.
      if ((await newestNumber(lake)) === newest) throw error
    }
  }
  for (;;) {
    const pauses = Math.min(2 ** failures, MOST_PAUSES)
    try {
      await setTimeout(everyMs * pauses, undefined, { signal })
      await moveOn()
      failures = 0
      reported = ''
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      const reason = error instanceof Error ? error : new Error(String(error))
      if (reason.message !== reported) onFollowError?.(reason)
      reported = reason.message
    }
  }
}

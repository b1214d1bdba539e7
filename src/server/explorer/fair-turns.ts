/**
 * Turns at one thing, shared among callers: at most one queued piece of work per caller; a running one is cut off at timeout /
 * (waiting + 1).
 */

import { atMost } from '../../support/side-by-side.ts'

/** Does work when its turn comes. The signal that the work is given ends it. */
export type TakeTurn = <T>(
  caller: string,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>

/**
 * @param timeoutMs longest time of a piece of work with all its waiting, which those in the queue share in equal parts
 * @param tooLong makes the error of a piece whose share is over
 */
export const fairTurns = (timeoutMs: number, tooLong: () => Error): TakeTurn => {
  const inTurn = atMost(1)
  /** Only callers that have a token come here: they are few. */
  const own = new Map<string, ReturnType<typeof atMost>>()
  let waiting = 0
  let current: { readonly startedMs: number; readonly end: AbortController } | undefined
  let timer: NodeJS.Timeout | undefined
  const setTimer = (): void => {
    clearTimeout(timer)
    if (current === undefined || waiting === 0) return
    const { startedMs, end } = current
    const leftMs = startedMs + timeoutMs / (waiting + 1) - performance.now()
    timer = setTimeout(() => end.abort(tooLong()), Math.max(0, leftMs))
  }

  return async (caller, work, signal) => {
    const ofCaller = own.get(caller) ?? atMost(1)
    own.set(caller, ofCaller)
    return ofCaller(async () => {
      signal.throwIfAborted()
      waiting += 1
      setTimer()
      return inTurn(async () => {
        waiting -= 1
        current = { startedMs: performance.now(), end: new AbortController() }
        setTimer()
        try {
          return await work(AbortSignal.any([signal, current.end.signal]))
        } finally {
          current = undefined
          setTimer()
        }
      })
    })
  }
}

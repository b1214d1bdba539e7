/**
 * Work of several statements that a signal stops: DuckDB itself stops only the one that is running, and some not before their
 * end: what works on one value, however long, does not look for an interrupt.
 */

import { ToolkitError } from '../../core/errors.ts'
import { leaveBehind, leftBehind, mostLeftBehind } from '../../support/left-behind.ts'
import type { Session } from './engine.ts'

const AGAIN_MS = 10

/**
 * From the signal on, no statement of a session gets far, until the work in it has ended.
 *
 * @returns to be called at the end of the work: later statements run to their ends again
 */
export const interruptOn = (
  session: Pick<Session, 'interrupt'>,
  signal: AbortSignal | undefined,
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    session.interrupt()
    // Between two statements there is nothing to interrupt: the next one is.
    timer = setInterval(() => session.interrupt(), AGAIN_MS)
  }
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  return () => {
    signal?.removeEventListener('abort', stop)
    clearInterval(timer)
  }
}

/**
 * Does work in a session until a signal comes; then no further statement of it gets far.
 *
 * @throws {ToolkitError} `INTERRUPTED` after the signal, whatever the work says then
 */
export const stoppable = async <T>(
  session: Session,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  const stopped = (cause: unknown): ToolkitError => new ToolkitError('INTERRUPTED', 'interrupted', {}, cause)
  if (signal?.aborted) throw stopped(signal.reason)
  const workEnded = interruptOn(session, signal)
  try {
    const result = await work()
    if (signal?.aborted) throw stopped(signal.reason)
    return result
  } catch (error) {
    throw signal?.aborted ? stopped(error) : error
  } finally {
    workEnded()
  }
}

/** How long work may take to obey a signal, in milliseconds. */
const OBEY_MS = 1_000

/** Work did not obey. Whatever it uses must not be used, nor closed, before it has ended. */
export class LeftBehind extends Error {}

/**
 * Waits for work, but for no more than a second after the signal, unless there is as much left behind as there may be.
 *
 * @param ended called when work that was left behind has ended after all
 * @throws {LeftBehind} where it does not obey
 */
export const orLeftBehind = async <T>(
  work: Promise<T>,
  signal: AbortSignal,
  ended: () => void,
): Promise<T> => {
  const { promise: left, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    timer = setTimeout(() => {
      if (leftBehind() < mostLeftBehind()) reject(new LeftBehind())
    }, OBEY_MS)
  }
  if (signal.aborted) wait()
  else signal.addEventListener('abort', wait, { once: true })
  try {
    return await Promise.race([work, left])
  } catch (error) {
    if (error instanceof LeftBehind) leaveBehind(work, ended)
    throw error
  } finally {
    signal.removeEventListener('abort', wait)
    clearTimeout(timer)
  }
}

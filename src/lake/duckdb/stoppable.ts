/** Work of several statements that a signal stops: DuckDB itself stops only the one that is running. */

import { ToolkitError } from '../../core/errors.ts'
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

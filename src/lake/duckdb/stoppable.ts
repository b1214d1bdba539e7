/** Work of several statements that a signal stops: DuckDB itself stops only the one that is running. */

import { ToolkitError } from '../../core/errors.ts'
import type { Session } from './engine.ts'

const AGAIN_MS = 50

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
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    session.interrupt()
    // Between two statements there is nothing to interrupt: the next one is.
    timer = setInterval(() => session.interrupt(), AGAIN_MS)
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const result = await work()
    if (signal?.aborted) throw stopped(signal.reason)
    return result
  } catch (error) {
    throw signal?.aborted ? stopped(error) : error
  } finally {
    signal?.removeEventListener('abort', stop)
    clearInterval(timer)
  }
}

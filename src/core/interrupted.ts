/** Work that a signal stops ends with one of our errors, whatever was thrown meanwhile. */

import { ToolkitError } from './errors.ts'

/**
 * Does work that a signal may stop.
 *
 * @param what the work, for the message: `The export`
 * @throws {ToolkitError} `INTERRUPTED` when it fails after the signal; else what it throws
 */
export const orInterrupted = async <T>(
  what: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!signal?.aborted || (error instanceof ToolkitError && error.code === 'INTERRUPTED')) throw error
    throw new ToolkitError('INTERRUPTED', `${what} was stopped`, {}, error)
  }
}

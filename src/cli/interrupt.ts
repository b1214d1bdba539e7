/** Ctrl-C and SIGTERM: the first stops the work cleanly, so that it can be resumed; a second ends at once. */

import { ToolkitError } from '../core/errors.ts'
import { EXIT, STOPPING_SIGNALS } from '../core/exit-codes.ts'
import { endNow } from './end-process.ts'
import { note } from './output/print.ts'

/** npm passes on a Ctrl-C that the terminal sends to all of the group: two signals, one keystroke. */
const SAME_KEYSTROKE_MS = 300

let stoppedBy: NodeJS.Signals | undefined

/** The signal that stopped the command, if one did. */
export const stoppingSignal = (): NodeJS.Signals | undefined => stoppedBy

/** The note of work that keeps what it has finished. */
export const KEPT = 'what is finished is kept'

/**
 * Does work that can be stopped. Work that finishes in spite of a signal counts as done.
 *
 * @param meanwhile what happens between the first signal and the end, as the note to the person says
 * @throws {ToolkitError} `INTERRUPTED` when the work fails with another error after a signal
 */
export const interruptible = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  meanwhile: string | (() => string) = KEPT,
): Promise<T> => {
  const controller = new AbortController()
  let firstMs = 0
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      if (performance.now() - firstMs < SAME_KEYSTROKE_MS) return
      endNow(signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted)
    }
    firstMs = performance.now()
    stoppedBy = signal
    note(
      `Stopping: ${typeof meanwhile === 'string' ? meanwhile : meanwhile()}. Press Ctrl-C again to quit now.`,
    )
    controller.abort()
  }
  for (const signal of STOPPING_SIGNALS) process.on(signal, stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted || error instanceof ToolkitError) throw error
    throw new ToolkitError('INTERRUPTED', 'The command was interrupted', {}, error)
  } finally {
    for (const signal of STOPPING_SIGNALS) process.off(signal, stop)
  }
}

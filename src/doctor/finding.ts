/** A finding of `doctor` about one thing, and how long a thing may take to answer. */

import { ToolkitError } from '../core/errors.ts'

/** The result of looking at one thing. */
export interface MachineFinding {
  readonly about: string
  /** `missing`: the core needs it, or what is configured. `absent`: other commands do. */
  readonly state: 'well' | 'absent' | 'missing'
  readonly says: string
  /** The one line that mends it. */
  readonly mend?: string
}

const failed = (about: string, error: unknown): MachineFinding => {
  // A `ToolkitError` holds no secret, which nobody can say of another's.
  if (!(error instanceof ToolkitError)) throw error
  return { about, state: 'missing', says: `${error.code}: ${error.message}` }
}

/** @param limitMs behind it the work is given up, whatever it does with the signal */
export const withinTime = async (
  about: string,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<string>,
): Promise<MachineFinding> => {
  const signal = AbortSignal.timeout(limitMs)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    return { about, state: 'well', says: await Promise.race([work(signal), late]) }
  } catch (error) {
    if (signal.aborted) return { about, state: 'missing', says: `no answer within ${limitMs / 1000} s` }
    return failed(about, error)
  }
}

/** The same of work without a limit of its own. */
export const asFinding = async (about: string, work: () => Promise<string>): Promise<MachineFinding> => {
  try {
    return { about, state: 'well', says: await work() }
  } catch (error) {
    return failed(about, error)
  }
}

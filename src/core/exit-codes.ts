/**
 * What a process answers with. A query that is refused or fails is 1, not 2: the command was used rightly, its statement
 * was not.
 */

import { ToolkitError } from './errors.ts'

/** Exit codes of a process that does one job. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  quarantine: 3,
  /** The rest is done: bad files were left out. */
  leftOut: 6,
  /** EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
  busy: 75,
  /** 128 + SIGINT, as shells say it. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const

/** One of `EXIT`. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/**
 * The exit code of a failure, as the command line answers with it.
 *
 * @param signal the one that stopped the process, if one did
 * @example
 * import { convert, exitCodeOf } from 'firmlake'
 *
 * const failed = await convert({ from: ['nowhere/'], lake: './lake' }).catch((error: unknown) => error)
 * console.log(exitCodeOf(failed)) // 1
 */
export const exitCodeOf = (error: unknown, signal?: NodeJS.Signals): ExitCode => {
  const code = error instanceof ToolkitError ? error.code : undefined
  if (code === 'USAGE') return EXIT.usage
  if (code === 'QUARANTINE_LIMIT') return EXIT.quarantine
  if (code === 'SERVICE_BUSY') return EXIT.busy
  if (code === 'INTERRUPTED') return signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted
  return EXIT.failed
}

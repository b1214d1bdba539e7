/**
 * What the process answers with. A query that is refused or fails is 1, not 2: the command was used rightly,
 * its statement was not.
 */

import { ToolkitError } from '../core/errors.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  quarantine: 3,
  /** The rest is done: bad files were skipped (--skip-bad-files). */
  leftOut: 6,
  /** EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
  busy: 75,
  /** 128 + SIGINT, as shells say it. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The exit code of a failure; `signal` is the one that stopped the command, if one did. */
export const exitCodeOf = (error: unknown, signal?: NodeJS.Signals): ExitCode => {
  const code = error instanceof ToolkitError ? error.code : undefined
  if (code === 'USAGE') return EXIT.usage
  if (code === 'QUARANTINE_LIMIT') return EXIT.quarantine
  if (code === 'SERVICE_BUSY') return EXIT.busy
  if (code === 'INTERRUPTED') return signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted
  return EXIT.failed
}

/** The exit code of a command that loaded something, where nothing fails after it. */
export const exitCodeOfReports = (reports: readonly { readonly leftOut: readonly unknown[] }[]): ExitCode =>
  reports.some(({ leftOut }) => leftOut.length > 0) ? EXIT.leftOut : EXIT.done

/** The last lines of the general help. */
export const EXIT_HELP = `Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    refused because too many lines are bad (--max-quarantined)
  6    done, but bad files were skipped (--skip-bad-files); the same command loads them once they are fixed
  75   the service asks to wait longer than --max-wait; run the same command later to resume
  130  stopped by Ctrl-C (143: by SIGTERM); "firmlake resume" resumes its run`

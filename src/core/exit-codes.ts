/**
 * Exit codes of the process. A query that is refused or fails is 1, not 2: the command was used rightly, its statement
 * was not.
 */

import { type ErrorCode, isFinal, ToolkitError } from './errors.ts'

/** Exit codes of a process that does one job. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  quarantine: 3,
  /** `run …` and `--plan-only` alone: a retry would fail the same way. */
  final: 4,
  /** `check` and `nightly`: an expectation of the lake does not hold. */
  checkFailed: 5,
  /** The rest is done: bad files were left out, or the service did not give all records. */
  excluded: 6,
  /** EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
  busy: 75,
  /** 128 + SIGINT, as shells say it. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const

/** Signals at which a process ends its work in order. */
export const STOPPING_SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** A value of `EXIT`. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** With PLAN_ORIGIN `--url` names another service than the run was planned for, and nothing is begun. */
const WRONG_USAGE: ReadonlySet<ErrorCode> = new Set([
  ...(['USAGE', 'CONFIG_INVALID', 'TEXT_NOT_UTF8', 'PLAN_ORIGIN'] as const),
])

const LATER: ReadonlySet<ErrorCode> = new Set([
  ...(['SERVICE_BUSY', 'RUN_INCOMPLETE', 'RUN_OTHER_RELEASE', 'ENGINE_UNREACHABLE'] as const),
])

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
  if (code !== undefined && WRONG_USAGE.has(code)) return EXIT.usage
  if (code === 'QUARANTINE_LIMIT') return EXIT.quarantine
  if (code === 'CHECK_FAILED' || code === 'LOAD_HELD') return EXIT.checkFailed
  if (code === 'COMPANIES_MISSING') return EXIT.excluded
  if (code !== undefined && LATER.has(code)) return EXIT.busy
  if (code === 'INTERRUPTED') return signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted
  return EXIT.failed
}

/** Final for a worker, though a person who mends something may run a command of one process again. */
const FINAL_FOR_WORKERS: ReadonlySet<ErrorCode> = new Set([
  ...(['SOURCE_CHANGED', 'RUN_NOT_FOUND', 'LAKE_NOT_FOUND', 'LAKE_DAMAGED'] as const),
  ...(['LAKE_UNRELEASED', 'LAKE_NEWER'] as const),
  ...(['SNAPSHOT_DAMAGED', 'TOKEN_MISSING', 'TOKEN_INVALID', 'TOKEN_REFUSED', 'ADDRESS_REFUSED'] as const),
  ...(['PACKAGE_MISSING', 'PLAN_ORIGIN'] as const),
])

/**
 * The exit code of a failed step of a run that many machines work on (`firmlake run …`), for the engine that schedules
 * them: 2, 3 and 4 must not be retried, 75 later, 1 at once.
 *
 * @param signal the one that stopped the process, if one did
 * @example
 * import { exitCodeOfStep, ToolkitError } from 'firmlake'
 *
 * console.log(exitCodeOfStep(new ToolkitError('RUN_INCOMPLETE', 'Cannot commit: 3 units are not done'))) // 75
 */
export const exitCodeOfStep = (error: unknown, signal?: NodeJS.Signals): ExitCode => {
  if (error instanceof ToolkitError && FINAL_FOR_WORKERS.has(error.code)) return EXIT.final
  const code = exitCodeOf(error, signal)
  return code === EXIT.failed && error instanceof ToolkitError && isFinal(error) ? EXIT.final : code
}

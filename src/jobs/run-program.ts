/** A process that does its work once: for cron, Kubernetes and other schedulers. */

import { knownError, ToolkitError } from '../core/errors.ts'
import { EXIT, type ExitCode, exitCodeOf, STOPPING_SIGNALS } from '../core/exit-codes.ts'
import { inStage } from '../core/stages.ts'

/** The arguments of a program's work. */
export interface ProgramWork {
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  /** Adds to the summary what is finished, so that it is printed also when the rest fails. */
  readonly report: (finished: object) => void
}

/** A program's token is one of its settings. */
const codeOf = (error: unknown, stoppedBy: NodeJS.Signals | undefined): ExitCode =>
  error instanceof ToolkitError && error.code === 'TOKEN_MISSING' ? EXIT.usage : exitCodeOf(error, stoppedBy)

/** The outcomes of programs that failed in part, or for now. */
const ENDED: Readonly<Record<number, string>> = {
  [EXIT.busy]: 'later',
  [EXIT.excluded]: 'partial',
}

const failureOf = (error: unknown) => {
  // The words of other errors may quote data.
  const { code, message } = knownError(error) ?? { code: 'UNEXPECTED', message: 'See FIRMLAKE_DEBUG=1' }
  return { error: { code, message } }
}

/**
 * Does the work of a process: prints its summary as one line of JSON, stops at SIGINT and SIGTERM (a second one ends it at
 * once), and sets the exit code that the command line would have.
 *
 * Shape of the line: `outcome` is `done`, `partial` (exit code 6), `later` (75), `stopped` (130, 143) or `failed`, all but the first with an
 * `error` of `code` and `message`; then what the work reported and returned; then `seconds`.
 *
 * @param show prints the summary. @default as that line
 * @example
 * import { convert, runProgram } from 'firmlake'
 *
 * await runProgram(async ({ signal }) => {
 *   const { snapshot, records } = await convert({ from: ['batches/'], lake: './lake', signal })
 *   return { snapshot, records }
 * }) // {"outcome":"done","snapshot":1,"records":5,"seconds":0}
 */
export const runProgram = async (
  work: (program: ProgramWork) => Promise<object>,
  show: (summary: object) => void = (summary) => console.log(JSON.stringify(summary)),
): Promise<void> => {
  const startedMs = performance.now()
  const controller = new AbortController()
  let stoppedBy: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppedBy) process.exit(codeOf(new ToolkitError('INTERRUPTED', 'Interrupted twice'), signal))
    stoppedBy = signal
    controller.abort()
  }
  for (const signal of STOPPING_SIGNALS) process.on(signal, stop)
  const finished: object[] = []
  const print = (outcome: string, more: object): void => {
    const seconds = Math.round(performance.now() - startedMs) / 1000
    show(Object.assign({ outcome }, ...finished, more, { seconds }))
  }
  try {
    const program = { signal: controller.signal, report: (more: object) => finished.push(more) }
    print('done', await inStage({ stage: 'program' }, () => work(program)))
  } catch (error) {
    process.exitCode = codeOf(error, stoppedBy)
    if (process.env.FIRMLAKE_DEBUG) console.error(error)
    print(stoppedBy ? 'stopped' : (ENDED[process.exitCode] ?? 'failed'), failureOf(error))
  } finally {
    for (const signal of STOPPING_SIGNALS) process.off(signal, stop)
  }
}

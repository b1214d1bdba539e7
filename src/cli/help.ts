/** Exit codes and examples in the help of the command line, and the code of a command that loaded. */

import type { Command } from 'commander'
import { EXIT, type ExitCode } from '../core/exit-codes.ts'

/** The exit code of a command that loaded something, where nothing fails after it. */
export const exitCodeOfReports = (reports: readonly { readonly excluded: readonly unknown[] }[]): ExitCode =>
  reports.some(({ excluded }) => excluded.length > 0) ? EXIT.excluded : EXIT.done

/** The last lines of the general help. */
export const EXIT_HELP = `Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    refused because too many lines are bad (--max-quarantined)
  4    of "firmlake run": final, the same again fails the same
  5    of "firmlake check": an expectation or a rule does not hold
  6    done, but bad files were skipped (--skip-bad-files); the same command loads them once they are fixed;
       of forget: values are left that a person has to decide on
  75   the service asks to wait longer than --max-wait, or units of a run are not done; run the same command later
  130  stopped by Ctrl-C (143: by SIGTERM); "firmlake resume" resumes its run`

/** Adds examples below a command's help; each is a command line and what it does. */
export const withExamples = (
  command: Command,
  examples: readonly (readonly [line: string, about: string])[],
): Command => {
  const lines = examples.map(([line, about]) => `  # ${about}\n  $ firmlake ${line}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}

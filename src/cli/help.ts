/** Exit codes and examples in the help of the command line, and the code of a command that loaded. */

import { type Command, Help } from 'commander'
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
  5    an expectation or a rule does not hold ("firmlake check", "firmlake nightly"), or a load is held back (--check)
  6    done, but bad files were skipped (--skip-bad-files); the same command loads them once they are fixed;
       done, but the service did not give all records that it counts or lists (COMPANIES_MISSING)
  75   the service asks to wait longer than --max-wait, or units of a run are not done; run the same command later
  130  stopped by Ctrl-C (143: by SIGTERM); "firmlake resume" resumes its run`

/** Names of commands or options by the heading above them. */
type Groups = Readonly<Record<string, readonly string[]>>

/** Groups of the options of a command with many, in the order of its help; those of no group come first. */
const OPTION_GROUPS: Groups = {
  'Limits:': [
    ...[
      'max-quarantined',
      'max-gone',
      'skip-bad-files',
      'require-records',
      'change-currency',
      'check',
      'max-line-bytes',
    ],
    ...['max-ratio', 'max-depth', 'max-unknown-per-record', 'max-unknown-names'],
  ],
  'Privacy, and what is left out:': [
    ...[
      'only-countries',
      'where',
      'where-relations',
      'leave-out',
      'mask',
      'hash',
      'compute',
      'keep-bad-lines',
    ],
    ...['change-taken', 'mode'],
  ],
  'Service:': [
    ...['url', 'token-file', 'trust-clock', 'concurrency', 'max-requests-per-second', 'max-wait'],
    ...['page-size', 'cap'],
  ],
  'Targets:': ['sink', 'publish', 'adopt', 'overwrite'],
  'Machine:': ['memory', 'threads', 'local-bytes'],
  'Many machines:': ['engine', 'temporal', 'namespace', 'task-queue', 'units-at-once', 'unit-bytes'],
}
/** So many options are read as one list. */
const UNGROUPED_OPTIONS = 12

/** The command `help` of the program, and of each command that has others. */
export const HELP_COMMAND = ['help [command]', 'print the help of a command'] as const

/** The group of a command that no other one names. */
export const LAST_GROUP = 'This machine:'
const MOST_USED = 'Most used:'
/** With it the help of the program lists all commands. */
export const ALL_HELP = '--all'
const COMMAND_GROUPS: Groups = {
  [MOST_USED]: [
    ...['convert', 'pull', 'nightly', 'status', 'query', 'export', 'report', 'check', 'serve', 'init'],
  ],
  'More to load:': ['sync', 'plan', 'batches', 'rates', 'resume', 'quarantine'],
  'More to read:': ['views', 'records', 'diff', 'publish', 'mcp'],
  'To keep a lake:': ['release', 'discard', 'verify', 'compact', 'gc', 'copy', 'forget'],
  'Many machines:': ['run', 'worker'],
  [LAST_GROUP]: ['demo', 'doctor', 'config', 'completion'],
}

/** Sorts by groups, since the help shows these in the order of what they hold. @param group sets the heading of one */
const sortIntoGroups = <Named extends { name(): string }>(
  listed: readonly Named[],
  groups: Groups,
  group: (one: Named, heading: string) => void,
): void => {
  const places = new Map(
    listed.map((one) => [one, Object.values(groups).findIndex((names) => names.includes(one.name()))]),
  )
  const sorted = [...places].sort(([, a], [, b]) => a - b)
  for (const [at, [one, place]] of sorted.entries()) {
    const heading = Object.keys(groups)[place]
    if (heading !== undefined) group(one, heading)
    ;(listed as Named[])[at] = one
  }
}

const groupOptions = (command: Command): void => {
  if (command.options.length <= UNGROUPED_OPTIONS) return
  const callsService = command.options.some(({ long }) => long === '--url')
  sortIntoGroups(command.options, OPTION_GROUPS, (option, heading) => {
    // Elsewhere it is the wait for workers.
    option.helpGroup(option.long === '--max-wait' && !callsService ? 'Many machines:' : heading)
  })
}

/** Puts commands and options into the groups of their help. @param all whether that of the program lists all commands */
export const groupHelp = (program: Command, all: boolean): void => {
  sortIntoGroups(program.commands, COMMAND_GROUPS, (command, heading) => command.helpGroup(heading))
  if (!all) {
    program.configureHelp({
      visibleCommands: (command) =>
        new Help().visibleCommands(command).filter((one) => one.helpGroup() === MOST_USED),
    })
    program.addHelpText('after', `\nAll commands: firmlake --help ${ALL_HELP}`)
  }
  for (const command of program.commands)
    for (const one of [command, ...command.commands]) {
      groupOptions(one)
      // Inherited, it would be in its group of the program.
      if (one.commands.length > 0) one.helpCommand(...HELP_COMMAND)
    }
}

/** Adds examples below a command's help; each is a command line and what it does. */
export const withExamples = (
  command: Command,
  examples: readonly (readonly [line: string, about: string])[],
): Command => {
  const lines = examples.map(([line, about]) => `  # ${about}\n  $ firmlake ${line}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}

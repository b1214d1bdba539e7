/** The command line as a whole: every command with its options. Loads none of what the commands work with. */

import { Command, CommanderError, Option } from 'commander'
import { ToolkitError } from '../core/errors.ts'
import { BUILT_FACTS, type ListedCommand } from '../support/built-facts.ts'
import { nearestName } from '../support/nearest-name.ts'
import { VERSION } from '../support/own-package.ts'
import { ALL_HELP, EXIT_HELP, groupHelp, HELP_COMMAND, LAST_GROUP, withExamples } from './help.ts'
import { LOG_FORMATS } from './output/log.ts'

/** The function that adds a command, by the command's name. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  convert: async () => (await import('./commands/convert.ts')).addConvert,
  pull: async () => (await import('./commands/pull.ts')).addPull,
  sync: async () => (await import('./commands/sync.ts')).addSync,
  nightly: async () => (await import('./commands/nightly.ts')).addNightly,
  plan: async () => (await import('./commands/plan.ts')).addPlan,
  batches: async () => (await import('./commands/batches.ts')).addBatches,
  run: async () => (await import('./commands/run.ts')).addRun,
  worker: async () => (await import('./commands/worker.ts')).addWorker,
  resume: async () => (await import('./commands/resume.ts')).addResume,
  query: async () => (await import('./commands/query.ts')).addQuery,
  views: async () => (await import('./commands/views.ts')).addViews,
  export: async () => (await import('./commands/export.ts')).addExport,
  check: async () => (await import('./commands/check.ts')).addCheck,
  report: async () => (await import('./commands/report.ts')).addReport,
  diff: async () => (await import('./commands/diff.ts')).addDiff,
  records: async () => (await import('./commands/records.ts')).addRecords,
  release: async () => (await import('./commands/held.ts')).addRelease,
  discard: async () => (await import('./commands/held.ts')).addDiscard,
  quarantine: async () => (await import('./commands/quarantine.ts')).addQuarantine,
  demo: async () => {
    const { addDemo } = await import('./commands/demo.ts')
    return (program) => addDemo(program, newProgram)
  },
  init: async () => (await import('./commands/init.ts')).addInit,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  status: async () => (await import('./commands/status.ts')).addStatus,
  verify: async () => (await import('./commands/verify.ts')).addVerify,
  gc: async () => (await import('./commands/gc.ts')).addGc,
  publish: async () => (await import('./commands/publish.ts')).addPublish,
  compact: async () => (await import('./commands/compact.ts')).addCompact,
  forget: async () => (await import('./commands/forget.ts')).addForget,
  copy: async () => (await import('./commands/copy.ts')).addCopy,
  serve: async () => (await import('./commands/serve.ts')).addServe,
  mcp: async () => (await import('./commands/mcp.ts')).addMcp,
  rates: async () => (await import('./commands/rates.ts')).addRates,
  config: async () => {
    const { addConfig } = await import('./commands/config.ts')
    return (program) => addConfig(program, newProgram)
  },
  completion: async () => {
    const { addCompletion } = await import('./commands/completion.ts')
    return (program) => addCompletion(program, newProgram)
  },
}

const GENERAL_HELP = ['-h', '--help', 'help', ALL_HELP]

/** A command that the general help lists, and that does nothing. */
const addListed =
  ({ name, summary, arguments: own, hasOptions }: ListedCommand) =>
  (program: Command): void => {
    const command = program.command(name).summary(summary)
    for (const one of own) command.argument(one)
    if (hasOptions) command.option('--any')
  }

/** The command that is called; all of them where it takes all to answer, as the help does: that of the build lists them. */
const named = (args: readonly string[], listed: readonly ListedCommand[] | undefined) => {
  const [first = '', second] = args
  if (listed && args.length > 0 && args.every((one) => GENERAL_HELP.includes(one)))
    return listed.map((one) => async () => addListed(one))
  if (first === 'help' && second !== undefined) return named([second], undefined)
  const only = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined
  return only === undefined ? Object.values(COMMANDS) : [only]
}

/**
 * The command that the arguments reach, and what it does not know of them. Parses them as commander does: afterwards the program is
 * of no use.
 */
const reach = (program: Command, args: readonly string[]) => {
  let [command, operands, unknown]: [Command, readonly string[], readonly string[]] = [program, [], args]
  for (;;) {
    const parsed = command.parseOptions([...unknown])
    operands = [...operands, ...parsed.operands]
    unknown = parsed.unknown
    const inner = command.commands.find((one) => one.name() === operands[0])
    if (inner === undefined) return { command, operand: operands[0], flag: unknown[0] }
    command = inner
    operands = operands.slice(1)
  }
}

/** Commands, and options of theirs, of builds before the first release, by what does it now. */
const MOVED: Readonly<Record<string, string>> = {
  manifest: 'status --manifest',
  parameters: 'plan --parameters',
  replay: 'quarantine replay',
  'views --write': 'verify --repair',
}

const NEAREST_OF = /^commander\.(unknownOption|unknownCommand|missingMandatoryOptionValue)$/

/**
 * An error about a word that no command has, with the name that may be meant. A wrong option is named rather than one that is
 * missing, which commander looks for before: it may be the missing one misspelled.
 */
export const withNearestName = (error: unknown, program: Command, args: readonly string[]): unknown => {
  if (!(error instanceof CommanderError) || !NEAREST_OF.test(error.code)) return error
  const { command, operand, flag } = reach(program, args)
  const isCommand = error.code === 'commander.unknownCommand'
  const given = isCommand ? operand : flag
  if (given === undefined) return error
  const called = isCommand ? given : `${command.name()} ${given}`
  const moved = Object.hasOwn(MOVED, called) ? MOVED[called] : undefined
  if (moved !== undefined)
    return new ToolkitError('USAGE', `Cannot run "firmlake ${called}": it is "firmlake ${moved}" now`)
  const known = isCommand
    ? command.commands.map((one) => one.name())
    : [...command.options, ...program.options].flatMap(({ long }) => long?.slice(2) ?? [])
  const near = nearestName(given.replace(/^-+/, ''), known)
  const hint = near === undefined ? '' : ` (Did you mean ${isCommand ? '' : '--'}${near}?)`
  const text = `unknown ${isCommand ? 'command' : 'option'} '${given}'${hint}`
  return new CommanderError(error.exitCode, isCommand ? error.code : 'commander.unknownOption', text)
}

/**
 * Errors are thrown, not printed; `run-command.ts` reports them.
 *
 * @param args only the command that they call is loaded @default all commands
 * @param listed all commands, for the general help, where none need be loaded for it
 */
export const newProgram = async (
  args: readonly string[] = [],
  listed = BUILT_FACTS?.commands,
): Promise<Command> => {
  const program = new Command('firmlake')
    .description('Loads company data into a Parquet lake, queries it, and serves it over the same API.')
    .version(VERSION, '-v, --version', 'print the version')
    .option(
      '--config <file>',
      'settings of this file (default: $FIRMLAKE_CONFIG, else firmlake.toml here or above)',
    )
    .addOption(new Option('--quiet', 'write only warnings and errors to standard error').conflicts('verbose'))
    .option('--verbose', 'write a line for each stage of a run too')
    .addOption(
      new Option('--log-format <format>', 'lines on standard error as text, or as JSON for programs')
        .choices(LOG_FORMATS)
        .default('text')
        .env('FIRMLAKE_LOG_FORMAT'),
    )
    .option('--no-color', 'no colours on a terminal (nor with NO_COLOR)')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup(LAST_GROUP)
    .helpCommand(...HELP_COMMAND)
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
  for (const add of await Promise.all(named(args, listed).map((load) => load()))) add(program)
  groupHelp(program, args.includes(ALL_HELP))
  withExamples(program, [
    ['demo', 'a tour with invented companies'],
    ['convert batches/ --lake ./lake', 'load a folder of batch files'],
    [`pull companies --lake ./lake --search '{"CountryCode":["SE"]}'`, 'load from the service'],
    ['query --lake ./lake "SELECT count(*) FROM companies"', 'ask the lake'],
  ])
  return program.addHelpText('after', `\n${EXIT_HELP}`)
}

/** The list of all commands for the general help. */
export const listedCommands = async (): Promise<readonly ListedCommand[]> =>
  (await newProgram()).commands.map((command) => ({
    ...{ name: command.name(), summary: command.summary(), hasOptions: command.options.length > 0 },
    arguments: command.registeredArguments.map((one) => {
      const name = `${one.name()}${one.variadic ? '...' : ''}`
      return one.required ? `<${name}>` : `[${name}]`
    }),
  }))

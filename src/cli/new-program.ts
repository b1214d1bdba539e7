/** The command line as a whole: every command with its options. Loads none of what the commands work with. */

import { Command, CommanderError, Option } from 'commander'
import { nearestName } from '../support/nearest-name.ts'
import { VERSION } from '../support/own-package.ts'
import { EXIT_HELP, groupHelp, LAST_GROUP, withExamples } from './help.ts'
import { LOG_FORMATS } from './output/log.ts'

/** The function that adds a command, by the command's name. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  convert: async () => (await import('./commands/convert.ts')).addConvert,
  pull: async () => (await import('./commands/pull.ts')).addPull,
  sync: async () => (await import('./commands/sync.ts')).addSync,
  nightly: async () => (await import('./commands/nightly.ts')).addNightly,
  plan: async () => (await import('./commands/plan.ts')).addPlan,
  parameters: async () => (await import('./commands/parameters.ts')).addParameters,
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
  quarantine: async () => (await import('./commands/quarantine.ts')).addQuarantine,
  replay: async () => (await import('./commands/quarantine.ts')).addReplay,
  demo: async () => (await import('./commands/demo.ts')).addDemo,
  init: async () => (await import('./commands/init.ts')).addInit,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  status: async () => (await import('./commands/status.ts')).addStatus,
  manifest: async () => (await import('./commands/manifest.ts')).addManifest,
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

/** The command that is called; all of them where it takes all to answer, as the help does. */
const named = (args: readonly string[]) => {
  const [first = ''] = args
  if (/^(-v|--version)$/.test(first)) return []
  const only = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined
  return only === undefined ? Object.values(COMMANDS) : [only]
}

/**
 * The first option of the arguments that no command has; commander looks for those that are missing before. Parses the arguments as
 * commander does: afterwards the program is of no use.
 */
const unknownOption = (
  program: Command,
  args: readonly string[],
): readonly [flag: string, near: string | undefined] | undefined => {
  let [command, operands, unknown]: [Command, readonly string[], readonly string[]] = [program, [], args]
  for (;;) {
    const parsed = command.parseOptions([...unknown])
    operands = [...operands, ...parsed.operands]
    unknown = parsed.unknown
    const inner = command.commands.find((one) => one.name() === operands[0])
    if (inner === undefined) break
    command = inner
    operands = operands.slice(1)
  }
  const [flag] = unknown
  const known = [...command.options, ...program.options].flatMap(({ long }) => long ?? [])
  return flag === undefined ? undefined : [flag, nearestName(flag, known)]
}

/** An error that names the wrong option rather than one that is missing; a wrong one may be the missing one misspelled. */
export const wrongOptionFirst = (error: unknown, program: Command, args: readonly string[]): unknown => {
  if (!(error instanceof CommanderError) || error.code !== 'commander.missingMandatoryOptionValue')
    return error
  const found = unknownOption(program, args)
  if (found === undefined) return error
  const [flag, near] = found
  const text = `unknown option '${flag}'${near === undefined ? '' : ` (Did you mean ${near}?)`}`
  return new CommanderError(error.exitCode, 'commander.unknownOption', text)
}

/**
 * Errors are thrown, not printed; `run-command.ts` reports them.
 *
 * @param args only the command that they call is loaded @default all commands
 */
export const newProgram = async (args: readonly string[] = []): Promise<Command> => {
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
    .helpCommand('help [command]', 'print the help of a command')
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
  for (const add of await Promise.all(named(args).map((load) => load()))) add(program)
  groupHelp(program)
  withExamples(program, [
    ['demo', 'convert the sample, ask three questions, serve it and pull it back'],
    ['convert batches/ --lake ./lake', 'load a folder of batch files'],
    [`pull companies --lake ./lake --search '{"CountryCode":["SE"]}'`, 'load from the service'],
    ['query --lake ./lake "SELECT count(*) FROM companies"', 'ask the lake'],
  ])
  return program.addHelpText('after', `\n${EXIT_HELP}`)
}

/**
 * Runs a command of the command line, watched from outside where the environment asks for it, reports its error, and sets the
 * exit code.
 */

import { type Command, CommanderError } from 'commander'
import { EXIT, exitCodeOf, exitCodeOfStep } from '../core/exit-codes.ts'
import type { watchNight } from '../observe/night.ts'
import type { Observing } from '../observe/observe.ts'
import { leftBehind, ROOMY_POOL } from '../support/left-behind.ts'
import { defaultToLakeHere, loadConfig, loadedConfig } from './config/loaded-config.ts'
import { endNow } from './end-process.ts'
import { stoppingSignal } from './interrupt.ts'
import { newProgram, withNearestName } from './new-program.ts'
import { configureLog, earlyFlags } from './output/log.ts'
import { endWhenNobodyReads, note } from './output/print.ts'
import { asToolkitError, logError } from './output/report-error.ts'

/** Commands that do runs. */
const RUNNING: ReadonlySet<string> = new Set([
  'convert',
  'pull',
  'sync',
  'nightly',
  'batches',
  'resume',
  'quarantine',
  'compact',
  'forget',
  'run',
])

const firstWord = (command: Command): string =>
  command.parent?.parent ? firstWord(command.parent) : command.name()

const warn = (text: string): void => note(`warning: ${text}`)

/** Begins to watch the runs of a command; loads nothing where nothing asks for it. */
const observeRuns = async (command: Command): Promise<Observing | undefined> => {
  const asked = Object.keys(process.env).some((name) => /^(OTEL|OPENLINEAGE)_/.test(name))
  if (!asked || !RUNNING.has(firstWord(command))) return undefined
  const { startObserving } = await import('../observe/observe.ts')
  return startObserving({ env: process.env, warn })
}

type EndNight = ReturnType<typeof watchNight>

/** A night has a metrics file and an alarm, where firmlake.toml or a variable asks for one. */
const observeNight = async (): Promise<EndNight | undefined> => {
  const { hooks, metrics, lake = '' } = loadedConfig().file?.settings ?? {}
  // The variable that a file with a fault names has not become ours.
  const { FIRMLAKE_WEBHOOK: webhook = process.env[hooks?.webhook_env ?? ''] } = process.env
  const { FIRMLAKE_METRICS_FILE: metricsFile = metrics?.file } = process.env
  const command = hooks?.on_failure
  if (!command && !webhook && !metricsFile) return undefined
  const { watchNight } = await import('../observe/night.ts')
  return watchNight({ lake: process.env.FIRMLAKE_LAKE || lake, command, webhook, metricsFile, warn })
}

/** The command that is called, global options before it or not. */
const commandOf = (args: readonly string[]): string | undefined => {
  const isOfOption = (at: number): boolean =>
    args[at]?.startsWith('-') === true || /^--(config|log-format)$/.test(args[at - 1] ?? '')
  return args.find((_, at) => !isOfOption(at))
}

/** Writes and tells what a night that has ended is to leave. @param error what the command failed with */
const endObservedNight = async (endNight: EndNight, error: unknown): Promise<void> => {
  const { failedParts } = await import('./commands/nightly.ts')
  await endNight(Number(process.exitCode ?? 0), error, failedParts())
}

/** For a step of a run, its plan too, the exit code says whether to retry it. */
const codeOf = (args: readonly string[]) =>
  args[0] === 'run' || args.includes('--plan-only') ? exitCodeOfStep : exitCodeOf

const report = (error: unknown, args: readonly string[]): void =>
  logError(error, { json: args.includes('--json'), debug: Boolean(process.env.FIRMLAKE_DEBUG) })

interface Watching {
  observing?: Observing | undefined
  endNight?: EndNight | undefined
}

/** @param watching is given what watches the command @returns what it failed with */
const runWatched = async (args: readonly string[], watching: Watching): Promise<unknown> => {
  try {
    const config = await loadConfig(args)
    const program = await newProgram(args)
    program.hook('preAction', async (_program, command) => {
      await configureLog(program.opts())
      if (firstWord(command) === 'nightly') watching.endNight = await observeNight()
      watching.observing = await observeRuns(command)
    })
    defaultToLakeHere(program)
    if (config.file !== undefined) {
      const { applyConfig } = await import('./config/apply-config.ts')
      await applyConfig(program, config.file)
    }
    await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
      throw withNearestName(error, program, args)
    })
  } catch (caught) {
    if (caught instanceof CommanderError && caught.exitCode === EXIT.done) return
    const error = asToolkitError(caught)
    process.exitCode = codeOf(args)(error, stoppingSignal())
    // Called without a command: commander has printed the help to standard error.
    if (caught instanceof CommanderError && caught.code === 'commander.help') return
    report(error, args)
    // A night that its settings keep from beginning alarms too.
    if (watching.endNight === undefined && commandOf(args) === 'nightly')
      watching.endNight = await observeNight()
    return error
  }
}

/**
 * Runs a command to its end: prints, and sets `process.exitCode`.
 *
 * @returns whether every endpoint that watched it answered: one that does not would keep the process
 */
export const runCommand = async (args: readonly string[]): Promise<boolean> => {
  await configureLog(earlyFlags(args, process.env))
  const watching: Watching = {}
  const error = await runWatched(args, watching)
  if (watching.endNight !== undefined) await endObservedNight(watching.endNight, error)
  return (await watching.observing?.close()) !== false
}

/** Runs the command of this process, and ends the process where nothing else would. */
export const runProcess = async (args: readonly string[]): Promise<void> => {
  // Certificates are always verified, by packages that ask the environment too. NODE_EXTRA_CA_CERTS adds authorities.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  // Node makes its pool when it is used first.
  if (['mcp', 'serve'].includes(commandOf(args) ?? '')) process.env.UV_THREADPOOL_SIZE ??= String(ROOMY_POOL)
  endWhenNobodyReads()
  // Node would print the stack, and with it whatever the message quotes.
  process.on('uncaughtException', (error) => {
    report(error, args)
    endNow(codeOf(args)(error, stoppingSignal()))
  })
  const areClosed = await runCommand(args)
  if (leftBehind() > 0) endNow(process.exitCode)
  if (!areClosed) process.exit()
}

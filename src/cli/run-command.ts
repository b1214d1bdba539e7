/**
 * Runs the command of the command line, watched from outside where the environment asks for it, reports its error, and sets
 * the exit code. Importing it does all that.
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

// Certificates are always verified, by packages that ask the environment too. NODE_EXTRA_CA_CERTS adds authorities.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED

/** Commands that do runs. */
const RUNNING: ReadonlySet<string> = new Set([
  'convert',
  'pull',
  'sync',
  'nightly',
  'batches',
  'resume',
  'replay',
  'compact',
  'forget',
  'run',
])

const firstWord = (command: Command): string =>
  command.parent?.parent ? firstWord(command.parent) : command.name()

let observing: Observing | undefined
let endNight: ReturnType<typeof watchNight> | undefined

const warn = (text: string): void => note(`warning: ${text}`)

/** Begins to watch; loads nothing where nothing asks for it. */
const observeRuns = async (command: Command): Promise<void> => {
  if (firstWord(command) === 'nightly') await observeNight()
  const asked = Object.keys(process.env).some((name) => /^(OTEL|OPENLINEAGE)_/.test(name))
  if (!asked || !RUNNING.has(firstWord(command))) return
  const { startObserving } = await import('../observe/observe.ts')
  observing = await startObserving({ env: process.env, warn })
}

/** A night has a metrics file and an alarm, where firmlake.toml or a variable asks for one. */
const observeNight = async (): Promise<void> => {
  const { hooks, metrics, lake = '' } = loadedConfig().file?.settings ?? {}
  // The variable that a file with a fault names has not become ours.
  const { FIRMLAKE_WEBHOOK: webhook = process.env[hooks?.webhook_env ?? ''] } = process.env
  const { FIRMLAKE_METRICS_FILE: metricsFile = metrics?.file } = process.env
  const command = hooks?.on_failure
  if (!command && !webhook && !metricsFile) return
  const { watchNight } = await import('../observe/night.ts')
  endNight = watchNight({ lake: process.env.FIRMLAKE_LAKE ?? lake, command, webhook, metricsFile, warn })
}

/** The command that is called, global options before it or not. */
const commandOf = (args: readonly string[]): string | undefined => {
  const isOfOption = (at: number): boolean =>
    args[at]?.startsWith('-') === true || /^--(config|log-format)$/.test(args[at - 1] ?? '')
  return args.find((_, at) => !isOfOption(at))
}

/** Writes and tells what a night that has ended is to leave. @param error what the command failed with */
const endObservedNight = async (error: unknown): Promise<void> => {
  if (endNight === undefined) return
  const { failedParts } = await import('./commands/nightly.ts')
  await endNight(Number(process.exitCode ?? 0), error, failedParts())
}

/** @returns `false` where an endpoint does not answer; `undefined` where nothing is watched */
const closeObservers = async (): Promise<boolean | undefined> => observing?.close()

/** @returns what it failed with */
const runCommand = async (args: readonly string[]): Promise<unknown> => {
  try {
    const config = await loadConfig(args)
    const program = await newProgram(args)
    program.hook('preAction', async (_program, command) => {
      await configureLog(program.opts())
      await observeRuns(command)
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
    process.exitCode = codeOf(error, stoppingSignal())
    // Called without a command: commander has printed the help to standard error.
    if (caught instanceof CommanderError && caught.code === 'commander.help') return
    report(error)
    // A night that its settings keep from beginning alarms too.
    if (endNight === undefined && commandOf(args) === 'nightly') await observeNight()
    return error
  }
}

/** Other ways in which people ask for the version. */
const VERSION_WORDS = /^(-V|version)$/
const [FIRST = '', ...OTHERS] = process.argv.slice(2)
const ARGS = VERSION_WORDS.test(FIRST) ? ['--version', ...OTHERS] : process.argv.slice(2)
/** For a step of a run the exit code says whether to retry it. */
const codeOf = ARGS[0] === 'run' ? exitCodeOfStep : exitCodeOf

const report = (error: unknown): void => {
  const options = { json: ARGS.includes('--json'), debug: Boolean(process.env.FIRMLAKE_DEBUG) }
  logError(error, options)
}

// Node makes its pool when it is used first.
if (['mcp', 'serve'].includes(commandOf(ARGS) ?? '')) process.env.UV_THREADPOOL_SIZE ??= String(ROOMY_POOL)
endWhenNobodyReads()
await configureLog(earlyFlags(ARGS, process.env))
// Node would print the stack, and with it whatever the message quotes.
process.on('uncaughtException', (error) => {
  report(error)
  endNow(codeOf(error, stoppingSignal()))
})
await endObservedNight(await runCommand(ARGS))
// An endpoint that does not answer would keep the process.
const areClosed = (await closeObservers()) !== false
if (leftBehind() > 0) endNow(process.exitCode)
if (!areClosed) process.exit()

/** Runs the command of the command line, reports its error, sets the exit code. Importing it does all that. */

import { CommanderError } from 'commander'
import { EXIT, exitCodeOf, exitCodeOfStep } from '../core/exit-codes.ts'
import { loadConfig } from './config/loaded-config.ts'
import { stoppingSignal } from './interrupt.ts'
import { newProgram } from './new-program.ts'
import { closeObservers, endObservedNight, observeRuns } from './observe-runs.ts'
import { configureLog, earlyFlags } from './output/log.ts'
import { endWhenNobodyReads } from './output/print.ts'
import { asToolkitError, logError } from './output/report-error.ts'

/** @returns what it failed with */
const runCommand = async (args: readonly string[]): Promise<unknown> => {
  try {
    const config = await loadConfig(args)
    const program = await newProgram(args)
    program.hook('preAction', async (_program, command) => {
      await configureLog(program.opts())
      await observeRuns(command)
    })
    if (config.file !== undefined) {
      const { applyConfig } = await import('./config/apply-config.ts')
      await applyConfig(program, config.file)
    }
    await program.parseAsync(args, { from: 'user' })
  } catch (caught) {
    if (caught instanceof CommanderError && caught.exitCode === EXIT.done) return
    const error = asToolkitError(caught)
    process.exitCode = codeOf(error, stoppingSignal())
    // Called without a command: commander has printed the help to standard error.
    if (caught instanceof CommanderError && caught.code === 'commander.help') return
    report(error)
    return error
  }
}

const ARGS = process.argv.slice(2)
/** Of a step of a run the code says whether to retry it. */
const codeOf = ARGS[0] === 'run' ? exitCodeOfStep : exitCodeOf

const report = (error: unknown): void => {
  const options = { json: ARGS.includes('--json'), debug: Boolean(process.env.FIRMLAKE_DEBUG) }
  logError(error, options)
}

endWhenNobodyReads()
await configureLog(earlyFlags(ARGS, process.env))
// Node would print the stack, and with it whatever the message quotes.
process.on('uncaughtException', (error) => {
  report(error)
  process.exit(codeOf(error, stoppingSignal()))
})
await endObservedNight(await runCommand(ARGS))
// An endpoint that does not answer would keep the process.
if ((await closeObservers()) === false) process.exit()

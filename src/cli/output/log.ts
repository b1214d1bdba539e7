/** Lines on standard error: for people, or as JSON for programs; which of them are written, and of which run they speak. */

import type { StageListener } from '../../core/stages.ts'
import { coloured, printable } from './text-table.ts'

const LEVELS = ['debug', 'info', 'warning', 'error'] as const
type Level = (typeof LEVELS)[number]

export const LOG_FORMATS = ['text', 'json'] as const

/** The options of the command line that concern the log. */
interface LogFlags {
  readonly quiet?: boolean | undefined
  readonly verbose?: boolean | undefined
  readonly logFormat?: string | undefined
  readonly color?: boolean | undefined
}

let min: Level = 'info'
let asJson = false
let run: string | undefined

const follow: StageListener = (stage) => {
  const startMs = performance.now()
  if (stage.stage === 'run') run = stage.run
  return ({ committed, ...outcome }, error) => {
    const seconds = Math.round(performance.now() - startMs) / 1000
    const { stage: name, ...facts } = stage
    const what = Object.entries(facts).flatMap(([key, value]) => (key === 'run' ? [] : [`${key} ${value}`]))
    const how = error === undefined ? 'done' : 'failed'
    const told = {
      ...{ stage: name, ...facts, ...outcome, seconds },
      ...(committed && { snapshot: committed.snapshot?.snapshot ?? null }),
    }
    writeLog(`${name} ${how} in ${seconds} s: ${what.join(', ')}`, told, name !== 'run' || !asJson)
    if (name === 'run') run = undefined
  }
}

let unfollow: (() => void) | undefined

/** Sets what is written from now on. `--quiet` leaves warnings and errors, `--verbose` adds a line for each stage. */
export const configureLog = async ({ quiet, verbose, logFormat, color }: LogFlags): Promise<void> => {
  // Node's own switch, for processes that this one starts too.
  if (color === false) process.env.NO_COLOR = '1'
  min = quiet ? 'warning' : verbose ? 'debug' : 'info'
  asJson = logFormat === 'json'
  unfollow?.()
  unfollow = undefined
  if (!asJson && min !== 'debug') return
  const { listenToStages } = await import('../../core/stages.ts')
  unfollow = listenToStages(follow)
}

/** The same options before the arguments are parsed, for errors in them. */
export const earlyFlags = (args: readonly string[], env: NodeJS.ProcessEnv): LogFlags => {
  const at = args.lastIndexOf('--log-format')
  const given = args.find((one) => one.startsWith('--log-format='))?.slice('--log-format='.length)
  return {
    color: !args.includes('--no-color'),
    quiet: args.includes('--quiet'),
    verbose: args.includes('--verbose'),
    logFormat: given ?? (at < 0 ? env.FIRMLAKE_LOG_FORMAT : args[at + 1]),
  }
}

export const logsJson = (): boolean => asJson

const isLogged = (level: Level): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(min)

/** Empties the line of a terminal. */
export const CLEAR_LINE = '\r\u001b[2K'

const PREFIX: Readonly<Record<string, Level>> = { 'warning: ': 'warning', 'error ': 'error' }

/** A line that begins with `warning: ` or `error ` is of that level. */
const levelIn = (text: string): readonly [level: Level, message: string] => {
  const [prefix = ''] = /^(warning: |error )/.exec(text) ?? []
  return [PREFIX[prefix] ?? 'info', text.slice(prefix.length)]
}

/** Whether a line is written, by its level. */
export const isWritten = (text: string): boolean => isLogged(levelIn(text)[0])

/** `warning:` and `error CODE:` in colour, where standard error shows colours. */
export const withColour = (text: string): string =>
  text.replace(/^(?:warning:|error [A-Z_]+:)/, (head) =>
    coloured(head.startsWith('w') ? 'yellow' : 'red', head, process.stderr),
  )

/** Writes a line: for people as it is, on a terminal in place of a progress line; else as JSON, with the facts. */
export const writeLog = (text: string, facts: object = {}, debug = false): void => {
  const [level, message] = debug ? (['debug', text] as const) : levelIn(text)
  if (!isLogged(level)) return
  if (!asJson) {
    process.stderr.write(`${process.stderr.isTTY ? CLEAR_LINE : ''}${withColour(printable(text))}\n`)
    return
  }
  const line = { time: new Date().toISOString(), level, ...(run !== undefined && { run }), message, ...facts }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}

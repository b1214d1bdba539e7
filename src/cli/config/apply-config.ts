/** `firmlake.toml` as defaults of the command line: options take precedence, then variables, then the file. */

import type { Command, Option } from 'commander'
import type { ConfigFile, FoundSetting } from '../../config/read-settings.ts'
import { ToolkitError } from '../../core/errors.ts'

/** It plays with a lake of its own, never with real data. */
const LEFT_ALONE = new Set(['demo'])

/** What is missing is what it is asked for. */
const SAYS_ITSELF = 'doctor'

/** `batches pull`, without the program's own name. */
export const wordsOf = (command: Command): string => {
  const { parent } = command
  return parent?.parent ? `${wordsOf(parent)} ${command.name()}` : command.name()
}

export const allCommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(allCommands),
]

/** A value of the file as its option reads it. @throws {ToolkitError} CONFIG_INVALID */
const parsed = (option: Option, { key, line, given }: FoundSetting, path: string): unknown => {
  if (typeof given === 'boolean') return given || option.negate ? given : undefined
  try {
    const read = (before: unknown, one: unknown): unknown =>
      option.parseArg ? option.parseArg(String(one), before) : String(one)
    return [given].flat().reduce(read, undefined)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new ToolkitError(
      'CONFIG_INVALID',
      `Cannot use "${path}": line ${line}: ${key}: ${error.message}`,
      { path, line, key },
      error,
    )
  }
}

/** What the command line gives takes the place of a list, it does not add to it. */
const startAnew = (option: Option, fromFile: unknown): void => {
  const { parseArg } = option
  if (parseArg && Array.isArray(fromFile))
    option.argParser((value: string, before: unknown) =>
      parseArg(value, before === fromFile ? undefined : before),
    )
}

const isFor = async (command: Command, { section }: FoundSetting): Promise<boolean> => {
  const { DEFINITION } = await import('../../config/definition.ts')
  const field = Object.entries(DEFINITION).find(([name]) => name === section)?.[1]
  const commands = field?.kind === 'table' ? field.commands : undefined
  return commands === undefined ? !LEFT_ALONE.has(wordsOf(command)) : commands.includes(wordsOf(command))
}

/** The settings of the file that are defaults of a command, by the name of the option's value. */
export type AppliedSettings = ReadonlyMap<string, FoundSetting>

/** Sets the defaults of one command. */
export const applyTo = async (command: Command, { path, found }: ConfigFile): Promise<AppliedSettings> => {
  const applied = new Map<string, FoundSetting>()
  for (const one of found) {
    const { option: long, variable } = one.setting
    const option = command.options.find((other) => long !== undefined && other.long === long)
    if (option === undefined || (variable !== undefined && process.env[variable])) continue
    if (!(await isFor(command, one))) continue
    const value = parsed(option, one, path)
    if (value === undefined) continue
    const name = option.attributeName()
    command.setOptionValueWithSource(name, value, 'default')
    startAnew(option, value)
    applied.set(name, one)
  }
  return applied
}

/** Settings that commands take from the environment, and values of variables by another name. */
const applyToEnvironment = (found: readonly FoundSetting[], env: NodeJS.ProcessEnv): void => {
  for (const { setting, given } of found) {
    const { names, variable, option } = setting
    const name = names ?? (option === undefined ? variable : undefined)
    const value = names === undefined ? String(given) : env[String(given)]
    if (name !== undefined && value && !env[name]) env[name] = value
  }
}

/** @throws {ToolkitError} TOKEN_MISSING where the file names a variable that holds nothing */
const checkToken = (command: Command, { path, found }: ConfigFile): void => {
  const calls = command.options.some(({ long }) => long === '--url') && wordsOf(command) !== SAYS_ITSELF
  const named = found.find(({ key }) => key === 'service.token_env')
  if (!calls || named === undefined || process.env.FIRMLAKE_TOKEN || command.opts().tokenFile) return
  throw new ToolkitError(
    'TOKEN_MISSING',
    `Cannot call the service: the variable "${String(named.given)}" is not set, which line ${named.line} of "${path}" names`,
    { path, line: named.line, key: named.key },
  )
}

/** Sets the defaults of all commands that are loaded. @throws {ToolkitError} CONFIG_INVALID */
export const applyConfig = async (program: Command, file: ConfigFile): Promise<void> => {
  applyToEnvironment(file.found, process.env)
  for (const command of allCommands(program)) await applyTo(command, file)
  program.hook('preAction', (_program, command) => checkToken(command, file))
}

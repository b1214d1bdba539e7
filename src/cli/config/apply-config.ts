/** `firmlake.toml` as defaults of the command line: options take precedence, then variables, then the file. */

import type { Command, Option } from 'commander'
import type { ConfigFile, FoundSetting } from '../../config/read-settings.ts'
import { ToolkitError } from '../../core/errors.ts'
import { note } from '../output/print.ts'

/** `demo` plays with a lake of its own, never with real data. */
const LEFT_ALONE = new Set(['demo'])

/** They call the service only for a run that was planned with one; what `doctor` is asked for is what is missing. */
const NOT_ALWAYS_CALLING = new Set(['doctor', 'resume', 'run work', 'worker'])

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

/** A list of the command line replaces that of the file; it does not add to it. */
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
type AppliedSettings = ReadonlyMap<string, FoundSetting>

/** The earlier values of a command's options, by their names. */
const before = new WeakMap<Command, Map<string, readonly [value: unknown, source: string | undefined]>>()

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
    const kept = before.get(command) ?? new Map()
    before.set(command, kept.set(name, [command.getOptionValue(name), command.getOptionValueSource(name)]))
    command.setOptionValueWithSource(name, value, 'default')
    startAnew(option, value)
    applied.set(name, one)
  }
  return applied
}

/** Settings that commands take from the environment, and values of variables by another name. */
const applyToEnvironment = (
  found: readonly FoundSetting[],
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, FoundSetting> => {
  const set = new Map<string, FoundSetting>()
  for (const one of found) {
    const { names, variable, option } = one.setting
    const name = names ?? (option === undefined ? variable : undefined)
    const value = names === undefined ? String(one.given) : env[String(one.given)]
    if (name === undefined || !value || env[name]) continue
    env[name] = value
    set.set(name, one)
  }
  return set
}

/** Takes back what the file says of its lake where the command is given another one. */
const dropOtherLakes = async (
  command: Command,
  { path, settings }: ConfigFile,
  applied: AppliedSettings,
  variables: ReadonlyMap<string, FoundSetting>,
): Promise<void> => {
  const { lake } = command.opts()
  if (settings.lake === undefined || typeof lake !== 'string' || lake === settings.lake) return
  const { isSameLake, otherLakeText, SECTIONS_OF_LAKE } = await import('../../jobs/same-lake.ts')
  const isOfLake = ({ section = '' }: FoundSetting): boolean => SECTIONS_OF_LAKE.has(section)
  const options = [...applied].filter(([, one]) => isOfLake(one))
  const names = [...variables].filter(([, one]) => isOfLake(one))
  if ((options.length === 0 && names.length === 0) || (await isSameLake(settings.lake, lake))) return
  for (const [name] of names) delete process.env[name]
  let isNoted = false
  for (const [name] of options) {
    if (command.getOptionValueSource(name) !== 'default') continue
    const [value, source] = before.get(command)?.get(name) ?? []
    command.setOptionValueWithSource(name, value, source ?? 'default')
    isNoted = true
  }
  if (isNoted) note(otherLakeText(path, settings.lake, lake))
}

/** @throws {ToolkitError} TOKEN_MISSING where the file names a variable that holds nothing */
const checkToken = (command: Command, { path, found }: ConfigFile): void => {
  const calls =
    command.options.some(({ long }) => long === '--url') && !NOT_ALWAYS_CALLING.has(wordsOf(command))
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
  const variables = applyToEnvironment(file.found, process.env)
  const applied = new Map<Command, AppliedSettings>()
  for (const command of allCommands(program)) applied.set(command, await applyTo(command, file))
  program.hook('preAction', async (_program, command) => {
    checkToken(command, file)
    await dropOtherLakes(command, file, applied.get(command) ?? new Map(), variables)
  })
}

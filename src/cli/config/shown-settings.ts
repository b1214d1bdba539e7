/** Every setting with its value and where that comes from; secrets never. */

import type { Command, Option } from 'commander'
import { DEFINITION } from '../../config/definition.ts'
import type { LoadedConfig } from '../../config/find-file.ts'
import type { FoundSetting } from '../../config/read-settings.ts'
import type { ConfigField, FieldsOf, Setting } from '../../config/setting-types.ts'
import { ToolkitError } from '../../core/errors.ts'
import { applyTo } from './apply-config.ts'
import { defaultToLakeHere, lakeHere } from './loaded-config.ts'

interface ShownSetting {
  readonly key: string
  /** `null` where nothing is said and nothing is the default. */
  readonly value: unknown
  /** `option`, `variable`, `file` or `default`. */
  readonly from: 'option' | 'variable' | 'file' | 'default'
  /** The variable, or the place in the file. */
  readonly at?: string
}

/** An address may hold a user and a password. */
const redacted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(redacted)
  return typeof value === 'string' ? value.replace(/(:\/\/)[^/\s]*@/g, '$1…@') : value
}

const atVariable = (name: string, { env }: LoadedConfig): string =>
  env[name] === undefined ? name : `${name} of .env`

const atFile = ({ line }: FoundSetting, { file }: LoadedConfig): string => `${file?.path ?? ''}:${line}`

/** The name of a variable, and whether it holds something. */
const secretOf = (name: string): string => `${name} (${process.env[name] ? 'set' : 'not set'})`

const shownSetting = (
  key: string,
  setting: Setting<unknown>,
  found: FoundSetting | undefined,
  config: LoadedConfig,
): ShownSetting => {
  const { names, variable } = setting
  if (names !== undefined) {
    const named = found === undefined ? names : String(found.given)
    const place = found && ({ from: 'file', at: atFile(found, config) } as const)
    return { key, value: secretOf(named), ...(place ?? { from: 'default' }) }
  }
  // A token is no file: what the variable holds is not this setting's value.
  const holds = variable === undefined || key === 'service.token_file' ? undefined : process.env[variable]
  if (variable !== undefined && holds && holds !== String(found?.given))
    return { key, value: redacted(holds), from: 'variable', at: atVariable(variable, config) }
  if (found) return { key, value: redacted(found.given), from: 'file', at: atFile(found, config) }
  const fallback = key === 'lake' ? lakeHere() : setting.default
  return { key, value: fallback ?? null, from: 'default' }
}

const settingsIn = (fields: FieldsOf, prefix: string): readonly (readonly [string, Setting<unknown>])[] =>
  Object.entries(fields).flatMap(([name, field]: [string, ConfigField]) => {
    if (field.kind === 'setting') return [[`${prefix}${name}`, field] as const]
    return field.kind === 'table' ? settingsIn(field.fields, `${prefix}${name}.`) : []
  })

/** Settings of the file, and those that it leaves out. */
export const shownSettings = (config: LoadedConfig): readonly ShownSetting[] => {
  const found = new Map((config.file?.found ?? []).map((one) => [one.key, one]))
  const known = settingsIn(DEFINITION, '')
  const listed = [...found.values()].filter(({ key }) => key.includes('['))
  return [
    ...known.map(([key, setting]) => shownSetting(key, setting, found.get(key), config)),
    ...listed.map((one) => shownSetting(one.key, one.setting, one, config)),
  ]
}

const defaultOf = (command: Command, option: Option): unknown => {
  const value: unknown = command.getOptionValue(option.attributeName())
  const source = command.getOptionValueSource(option.attributeName())
  return source === 'default' && option.defaultValueDescription ? option.defaultValueDescription : value
}

/** The options of a command as it would run with these arguments. */
export const shownOptions = async (
  command: Command,
  args: readonly string[],
  config: LoadedConfig,
): Promise<readonly ShownSetting[]> => {
  defaultToLakeHere(command)
  const applied = config.file ? await applyTo(command, config.file) : undefined
  const [unknown] = command.parseOptions([...args]).unknown
  if (unknown !== undefined)
    throw new ToolkitError(
      'USAGE',
      `Cannot show the settings of "${command.name()}": it has no option "${unknown}"`,
    )
  return command.options.map((option): ShownSetting => {
    const name = option.attributeName()
    const key = option.long ?? option.flags
    if (command.getOptionValueSource(name) === 'cli')
      return { key, value: redacted(command.getOptionValue(name)), from: 'option' }
    const { envVar } = option
    if (envVar !== undefined && process.env[envVar])
      return { key, value: redacted(process.env[envVar]), from: 'variable', at: atVariable(envVar, config) }
    const inFile = applied?.get(name)
    if (inFile) return { key, value: redacted(inFile.given), from: 'file', at: atFile(inFile, config) }
    const { variable } =
      config.file?.found.find(({ setting }) => setting.option === option.long)?.setting ?? {}
    if (variable !== undefined && variable !== 'FIRMLAKE_TOKEN' && process.env[variable])
      return {
        key,
        value: redacted(process.env[variable]),
        from: 'variable',
        at: atVariable(variable, config),
      }
    return { key, value: defaultOf(command, option) ?? null, from: 'default' }
  })
}

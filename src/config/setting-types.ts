/** The parts of the definition of `firmlake.toml`: sections and settings. Those that are options of a command come from its table. */

import { type Entry, fileKeyOf, flagOf, type OptionTable } from '../options/entry.ts'
import { trueOrFalse, type ValueType } from '../options/value-types.ts'

export interface Setting<T, Required extends boolean = boolean> {
  readonly kind: 'setting'
  readonly about: string
  readonly type: ValueType<T>
  readonly required: Required
  /** The value without a setting, as a person writes it. */
  readonly default?: string | undefined
  /** The option of the command line that it is the default of. */
  readonly option?: string | undefined
  /** The environment variable that takes precedence over it. */
  readonly variable?: string | undefined
  /** The value that the section sets where it stands without this key. */
  readonly withSection?: string | undefined
  /** Set where the key names the variable that holds the value of that one. */
  readonly names?: string | undefined
}

/** A table, `[name]`, or a list of them, `[[name]]`. */
export interface ConfigSection<
  Fields extends FieldsOf = FieldsOf,
  Kind extends 'table' | 'tables' = 'table' | 'tables',
> {
  readonly kind: Kind
  readonly about: string
  readonly fields: Fields
  /** The commands that take its settings, by their words. @default every command that has the option */
  readonly commands?: readonly string[] | undefined
}

export type ConfigField = Setting<unknown> | ConfigSection
export type FieldsOf = { readonly [name: string]: ConfigField }

type More = Pick<Setting<unknown>, 'default' | 'option' | 'variable' | 'names' | 'withSection'>

export const setting = <T>(type: ValueType<T>, about: string, more: More = {}): Setting<T, false> => ({
  ...{ kind: 'setting', about, type, required: false },
  ...more,
})

export const required = <T>(type: ValueType<T>, about: string, more: More = {}): Setting<T, true> => ({
  ...{ kind: 'setting', about, type, required: true },
  ...more,
})

export const table = <Fields extends FieldsOf>(
  about: string,
  fields: Fields,
  commands?: readonly string[],
): ConfigSection<Fields, 'table'> => ({ kind: 'table', about, fields, commands })

/** @param about of one of them */
export const tables = <Fields extends FieldsOf>(
  about: string,
  fields: Fields,
): ConfigSection<Fields, 'tables'> => ({
  ...{ kind: 'tables', about, fields },
})

type RequiredNames<Fields extends FieldsOf> = {
  [Name in keyof Fields]: Fields[Name] extends Setting<unknown, true> ? Name : never
}[keyof Fields]

type Read<F> =
  F extends Setting<infer T>
    ? T
    : F extends ConfigSection<infer Fields, 'tables'>
      ? readonly Settings<Fields>[]
      : F extends ConfigSection<infer Fields, 'table'>
        ? Settings<Fields>
        : never

/** The values of fields, with all required ones. */
export type Settings<Fields extends FieldsOf> = {
  readonly [Name in RequiredNames<Fields>]: Read<Fields[Name]>
} & { readonly [Name in Exclude<keyof Fields, RequiredNames<Fields>>]?: Read<Fields[Name]> }

type Spelled<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Spelled<Rest>}`
  : ''

type KeyIn<Section extends string, Name extends string, E> = E extends { readonly section: Section }
  ? E extends { readonly key: infer Key extends string }
    ? Key
    : Spelled<Name>
  : never

type KeysOf<Section extends string, T extends OptionTable> = {
  readonly [Name in keyof T & string as KeyIn<Section, Name, T[Name]>]: T[Name]['type'] extends ValueType<
    infer V
  >
    ? Setting<V, false>
    : never
}

const settingOf = (name: string, entry: Entry): Setting<unknown, false> => {
  const { type, otherwise, default: value, variable } = entry
  const about = entry.fileAbout ?? entry.about.replace(' (repeatable)', '')
  const unset = value?.text ?? (type === trueOrFalse ? 'false' : otherwise)
  const flag = entry.only === 'calls' ? undefined : flagOf(name, entry)
  return setting(type, about, { default: unset, option: flag, variable })
}

/** The keys of a section that are options of a command; the file says what counts without them. */
export const keysFrom = <const Section extends string, T extends OptionTable>(
  section: Section,
  options: T,
): KeysOf<Section, T> =>
  Object.fromEntries(
    Object.entries<Entry>(options)
      .filter(([, entry]) => entry.section === section)
      .map(([name, entry]) => [fileKeyOf(name, entry), settingOf(name, entry)]),
  ) as unknown as KeysOf<Section, T>

/** The same keys in a section that is the default of no option. */
export const withoutOptions = <Fields extends FieldsOf>(fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([key, one]) => [key, { ...one, option: undefined }]),
  ) as Fields

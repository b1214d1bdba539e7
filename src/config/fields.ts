/** What the definition of `firmlake.toml` is put together from, and the type of what is read by it. */

import type { ValueType } from './value-types.ts'

export interface Setting<T, Required extends boolean = boolean> {
  readonly kind: 'setting'
  readonly about: string
  readonly type: ValueType<T>
  readonly required: Required
  /** What holds where nothing is said, as a person writes it. */
  readonly default?: string | undefined
  /** The option of the command line that it is the default of. */
  readonly option?: string | undefined
  /** The environment variable that takes precedence over it. */
  readonly variable?: string | undefined
  /** It names the variable that holds the value of that one. */
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

type More = Pick<Setting<unknown>, 'default' | 'option' | 'variable' | 'names'>

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

/** What is read of fields: the required ones are there. */
export type Settings<Fields extends FieldsOf> = {
  readonly [Name in RequiredNames<Fields>]: Read<Fields[Name]>
} & { readonly [Name in Exclude<keyof Fields, RequiredNames<Fields>>]?: Read<Fields[Name]> }

/**
 * The parts of the definition of `firmlake.toml`: sections, settings, and the types of their values, each with its check and
 * its JSON Schema.
 */

import { resolve } from 'node:path'
import { BUCKET_FORM, isBucket } from '../core/lake-address.ts'
import { isObject } from '../support/json-form.ts'
import { parseDuration, parseShare, parseSize } from '../support/quantities.ts'

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

/** The values of fields, with all required ones. */
export type Settings<Fields extends FieldsOf> = {
  readonly [Name in RequiredNames<Fields>]: Read<Fields[Name]>
} & { readonly [Name in Exclude<keyof Fields, RequiredNames<Fields>>]?: Read<Fields[Name]> }

export type JsonSchema = Readonly<Record<string, unknown>>

interface ValueType<T> {
  /** Behind "expected" in messages. */
  readonly expected: string
  readonly schema: JsonSchema
  /** `undefined` for what it is not. */
  readonly read: (value: unknown) => T | undefined
  /** A value that is relative to the folder of the file, as it is meant. */
  readonly inFolder?: (value: unknown, folder: string) => unknown
  /** A value that is wrong may be a secret: messages do not show it. */
  readonly hidden?: true
}

/** A text, or a number beside it, that a function reads. */
const textRead = <T>(
  expected: string,
  read: (text: string) => T | undefined,
  more: Partial<ValueType<T>> = {},
): ValueType<T> => ({
  expected,
  schema: { type: 'string' },
  read: (value) => (typeof value === 'string' && value !== '' ? read(value) : undefined),
  ...more,
})

export const plainText: ValueType<string> = textRead('a text', (value) => value)

const resolved = (value: unknown, folder: string): unknown =>
  typeof value === 'string' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? resolve(folder, value) : value

/** A file or a folder. */
export const path: ValueType<string> = { ...plainText, expected: 'a path', inFolder: resolved }

export const lakeAddress: ValueType<string> = {
  ...textRead(`a folder, such as "lake", or "${BUCKET_FORM}"`, (value) =>
    isBucket(value) || !value.includes('://') ? value : undefined,
  ),
  inFolder: resolved,
}

/** `csv:out`, `firms.duckdb`, `postgres://db/firms`. */
export const target: ValueType<string> = {
  ...plainText,
  expected: 'the address of a target, such as "csv:out"',
  inFolder: (value, folder) => {
    const [, scheme = '', rest = ''] =
      /^([a-z0-9]{2,}:)?(.*)$/s.exec(typeof value === 'string' ? value : '') ?? []
    return rest === '' || rest.startsWith('//') ? value : scheme + resolved(rest, folder)
  },
}

export const trueOrFalse: ValueType<boolean> = {
  expected: 'true or false',
  schema: { type: 'boolean' },
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

export const whole = (least: number, most = Number.MAX_SAFE_INTEGER): ValueType<number> => ({
  expected:
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${least}`
      : `a whole number from ${least} to ${most}`,
  schema: {
    type: 'integer',
    minimum: least,
    ...(most < Number.MAX_SAFE_INTEGER && { maximum: most }),
  },
  read: (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
      ? value
      : undefined,
})

export const rate: ValueType<number> = {
  expected: 'a number above 0',
  schema: { type: 'number', exclusiveMinimum: 0 },
  read: (value) => (typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined),
}

/** In milliseconds. */
export const duration = textRead('a time such as "90s", "15m", "26h" or "7d"', parseDuration)

/** From 0 to 1. */
export const share = textRead('a share such as "5%"', parseShare)

/** In bytes. */
export const size = textRead('bytes such as "1GiB" or "512MB"', (value) => {
  const bytes = Math.round(parseSize(value) ?? 0)
  return Number.isSafeInteger(bytes) && bytes >= 1 ? bytes : undefined
})

/** A count, or a share. */
export const limit: ValueType<number | string> = {
  expected: 'a count, or a share such as "5%"',
  schema: {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^\\d{1,3}(\\.\\d+)?%$' },
    ],
  },
  read: (value) =>
    typeof value === 'string' && parseShare(value) !== undefined ? value : whole(0).read(value),
}

/** The name of an environment variable. */
export const variable: ValueType<string> = textRead(
  'the name of an environment variable; the value itself never stands in this file',
  (value) => (/^[A-Z_][A-Z0-9_]{0,63}$/.test(value) ? value : undefined),
  { schema: { type: 'string', pattern: '^[A-Z_][A-Z0-9_]*$' }, hidden: true },
)

/** A part of a night, as results name it. */
export const nameOfPart = textRead(
  'a name of letters, digits, - and _',
  (value) => (/^[A-Za-z0-9][\w-]{0,63}$/.test(value) ? value : undefined),
  { schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' } },
)

export const day = textRead('a day such as "2026-01-31"', (value) =>
  /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined,
)

export const choiceOf = <const Value extends string>(...values: readonly Value[]): ValueType<Value> => ({
  expected: values.map((one) => `"${one}"`).join(' or '),
  schema: { enum: values },
  read: (value) => values.find((one) => one === value),
})

/** @param first besides a type these texts */
export const orText = <const Value extends string, T>(
  first: Value,
  other: ValueType<T>,
): ValueType<Value | T> => ({
  expected: `"${first}" or ${other.expected}`,
  schema: { anyOf: [{ const: first }, other.schema] },
  read: (value) => (value === first ? first : other.read(value)),
})

export const manyOf = <T>(type: ValueType<T>): ValueType<readonly T[]> => ({
  expected: `a list, each ${type.expected}`,
  schema: { type: 'array', items: type.schema },
  read: (value) => {
    if (!Array.isArray(value)) return undefined
    const items = value.map(type.read)
    const read = items.filter((one) => one !== undefined)
    return read.length === items.length ? read : undefined
  },
  inFolder: (value, folder) =>
    Array.isArray(value) && type.inFolder ? value.map((one: unknown) => type.inFolder?.(one, folder)) : value,
  ...(type.hidden && { hidden: true }),
})

/** As the interface takes it: lists of values by parameter. */
export const search: ValueType<Readonly<Record<string, readonly (string | number)[]>>> = {
  expected: 'a table of lists, such as { CountryCode = ["SE"] }',
  schema: {
    type: 'object',
    minProperties: 1,
    additionalProperties: { type: 'array', minItems: 1, items: { type: ['string', 'number'] } },
  },
  read: (value) => {
    const values = manyOf<string | number>({
      ...{ expected: '', schema: {} },
      read: (one) => (typeof one === 'string' || typeof one === 'number' ? one : undefined),
    })
    if (!isObject(value)) return undefined
    const entries = Object.entries(value).flatMap(([name, given]) => {
      const read = values.read(given)
      return read === undefined || read.length === 0 ? [] : [[name, read] as const]
    })
    const isWhole = entries.length > 0 && entries.length === Object.keys(value).length
    return isWhole ? Object.fromEntries(entries) : undefined
  },
}

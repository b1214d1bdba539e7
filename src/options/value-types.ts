/**
 * The types of options: how a value stands in a call, as an argument of a command and in `firmlake.toml`, each with its check.
 */

import { resolve } from 'node:path'
import { BUCKET_FORM, isBucket } from '../core/lake-address.ts'
import { isObject } from '../support/json-form.ts'
import { parseDuration, parseShare, parseSize } from '../support/quantities.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

export interface ValueType<T = unknown> {
  /** Behind "expected" in messages of a command and of the file. */
  readonly expected: string
  /** The same of a call, where a value stands otherwise in one. */
  readonly expectedOfCall?: string
  /** As the interfaces of the library declare it. */
  readonly ts: string
  /** As an option shows its value: `<n>`; absent of a switch. */
  readonly argument?: string
  /** Reads an argument. @returns `undefined` for what it is not */
  readonly parse: (text: string) => T | undefined
  /** Whether a call may give it. */
  readonly fits: (value: unknown) => boolean
  /** Reads a value of the file. @returns `undefined` for what it is not */
  readonly read: (value: unknown) => T | undefined
  readonly schema: JsonSchema
  /** A value that is relative to the folder of the file, as it is meant. */
  readonly inFolder?: (value: unknown, folder: string) => unknown
  /** A wrong value may be a secret: messages do not show it. */
  readonly hidden?: true
  /** An option that may be repeated: its arguments are collected. */
  readonly many?: true
  readonly choices?: readonly string[]
}

const isText = (value: unknown): value is string => typeof value === 'string'

interface TextType<T> extends Partial<ValueType<T>> {
  readonly expected: string
  readonly parse: (text: string) => T | undefined
}

/** A text that a function reads. @default a call gives it as that text, too */
const textRead = <T>(type: TextType<T>): ValueType<T> => ({
  ...{ ts: 'string', argument: '<text>', fits: isText, schema: { type: 'string' } },
  read: (value) => (isText(value) && value !== '' ? type.parse(value) : undefined),
  ...type,
})

export const plainText = (argument = '<text>'): ValueType<string> =>
  textRead({ expected: 'a text', expectedOfCall: 'a string', argument, parse: (text) => text })

const resolved = (value: unknown, folder: string): unknown =>
  isText(value) && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? resolve(folder, value) : value

/** A file or a folder. */
export const path = (argument = '<file>'): ValueType<string> => ({
  ...plainText(argument),
  expected: 'a path',
  inFolder: resolved,
})

/** An option in its place means that the lake was forgotten: no lake is to be made in `--json` or in `http:`. */
const isLakeAddress = (text: string): boolean =>
  text !== '' && !text.startsWith('-') && (isBucket(text) || !/^[^/]*:\/\//.test(text))

export const lakeAddress: ValueType<string> = textRead({
  expected: `a folder, such as ./lake, or ${BUCKET_FORM}`,
  expectedOfCall: `a folder or ${BUCKET_FORM}`,
  argument: '<lake>',
  parse: (text) => (isLakeAddress(text) ? text : undefined),
  inFolder: resolved,
})

/** `csv:out`, `firms.duckdb`, `postgres://db/firms`. */
export const target: ValueType<string> = {
  ...plainText('<url>'),
  expected: 'the address of a target, such as "csv:out"',
  inFolder: (value, folder) => {
    const [, scheme = '', rest = ''] = /^([a-z0-9]{2,}:)?(.*)$/s.exec(isText(value) ? value : '') ?? []
    return rest === '' || rest.startsWith('//') ? value : scheme + resolved(rest, folder)
  },
}

export const trueOrFalse: ValueType<boolean> = {
  expected: 'true or false',
  ts: 'boolean',
  parse: () => undefined,
  fits: (value) => typeof value === 'boolean',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  schema: { type: 'boolean' },
}

const MOST = Number.MAX_SAFE_INTEGER

export const whole = (least = 1, most = MOST): ValueType<number> => {
  const read = (value: unknown): number | undefined =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
      ? value
      : undefined
  return {
    expected: `a whole number from ${least}${most === MOST ? '' : ` to ${most}`}`,
    expectedOfCall: 'a whole number',
    ts: 'number',
    argument: '<n>',
    parse: (text) => (/^\d{1,15}$/.test(text) ? read(Number(text)) : undefined),
    fits: (value) => Number.isSafeInteger(value),
    read,
    schema: { type: 'integer', minimum: least, ...(most < MOST && { maximum: most }) },
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value)

/** A number above 0. */
export const rate: ValueType<number> = {
  expected: 'a number above 0',
  expectedOfCall: 'a number',
  ts: 'number',
  argument: '<n>',
  parse: (text) => (/^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0 ? Number(text) : undefined),
  fits: isNumber,
  read: (value) => (isNumber(value) && value > 0 && Number.isFinite(value) ? value : undefined),
  schema: { type: 'number', exclusiveMinimum: 0 },
}

/** Of what people write with a unit, and a call as a number. */
const quantity = (type: TextType<number>): ValueType<number> =>
  textRead({ expectedOfCall: 'a number', ts: 'number', fits: isNumber, ...type })

/** In milliseconds. */
export const duration = (argument = '<time>'): ValueType<number> =>
  quantity({ expected: 'a time such as "90s", "15m", "26h" or "7d"', argument, parse: parseDuration })

/** Of what an option takes in seconds, and a call in milliseconds. */
export const seconds: ValueType<number> = quantity({
  expected: 'a whole number of seconds from 1',
  argument: '<seconds>',
  parse: (text) => {
    const found = whole().parse(text)
    return found === undefined ? undefined : found * 1000
  },
})

/** From 0 to 1. */
export const share: ValueType<number> = quantity({
  expected: 'a share such as "5%"',
  argument: '<percent>',
  parse: parseShare,
})

/** In bytes. */
export const size = (least = 1): ValueType<number> =>
  quantity({
    expected: 'bytes such as "1GiB" or "512MB"',
    argument: '<bytes>',
    parse: (text) => {
      const bytes = Math.round(parseSize(text) ?? 0)
      return Number.isSafeInteger(bytes) && bytes >= least ? bytes : undefined
    },
  })

/** A number of things, or a share of all. */
export type Limit =
  | { readonly kind: 'count'; readonly lines: number }
  | { readonly kind: 'share'; readonly share: number }

/** A text as a person writes it, a count, or a number below 1, which is a share. */
export const readLimit = (value: unknown): Limit | undefined => {
  if (isObject(value)) return value as unknown as Limit
  if (isText(value) && /^\d+$/.test(value)) return readLimit(Number(value))
  const part = isText(value)
    ? parseShare(value)
    : isNumber(value) && value > 0 && value < 1
      ? value
      : undefined
  if (part !== undefined) return { kind: 'share', share: part }
  return Number.isSafeInteger(value) && Number(value) >= 0
    ? { kind: 'count', lines: Number(value) }
    : undefined
}

export const limit: ValueType<Limit> = {
  expected: 'a count such as 25, or a share such as "5%"',
  expectedOfCall: 'a count such as 25, or a share such as 0.05 or "5%"',
  ts: 'number | string | QuarantineLimit',
  argument: '<limit>',
  parse: readLimit,
  fits: (value) => readLimit(value) !== undefined,
  read: (value) => (isObject(value) ? undefined : readLimit(value)),
  schema: {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^\\d{1,3}(\\.\\d+)?%$' },
    ],
  },
}

/** The name of an environment variable. */
export const variable: ValueType<string> = textRead({
  expected: 'the name of an environment variable; the value itself never stands in this file',
  parse: (text) => (/^[A-Z_][A-Z0-9_]{0,63}$/.test(text) ? text : undefined),
  schema: { type: 'string', pattern: '^[A-Z_][A-Z0-9_]*$' },
  hidden: true,
})

/** A part of a night, as results name it. */
export const nameOfPart: ValueType<string> = textRead({
  expected: 'a name of letters, digits, - and _',
  parse: (text) => (/^[A-Za-z0-9][\w-]{0,63}$/.test(text) ? text : undefined),
  schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$' },
})

export const day: ValueType<string> = textRead({
  expected: 'a day such as "2026-01-31"',
  argument: '<day>',
  parse: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined),
})

/** One of some texts. */
export const choiceOf = <const Value extends string>(...values: readonly Value[]): ValueType<Value> =>
  textRead<Value>({
    expected: values.map((one) => `"${one}"`).join(' or '),
    expectedOfCall: `one of ${values.join(', ')}`,
    ts: values.map((one) => `'${one}'`).join(' | '),
    parse: (text) => values.find((one) => one === text),
    fits: (value) => values.some((one) => one === value),
    schema: { enum: values },
    choices: values,
  })

/** @param first besides a type this text */
export const orText = <const Value extends string, T>(
  first: Value,
  other: ValueType<T>,
): ValueType<Value | T> => ({
  ...other,
  expected: `"${first}" or ${other.expected}`,
  parse: (text) => (text === first ? first : other.parse(text)),
  fits: (value) => value === first || other.fits(value),
  read: (value) => (value === first ? first : other.read(value)),
  schema: { anyOf: [{ const: first }, other.schema] },
})

/** A list; on the command line an option that may be repeated. */
export const manyOf = <T>(type: ValueType<T>): ValueType<readonly T[]> => ({
  expected: `a list, each ${type.expected}`,
  expectedOfCall: 'a list of strings',
  ts: `readonly ${type.ts}[]`,
  ...(type.argument !== undefined && { argument: type.argument }),
  many: true,
  parse: (text) => {
    const one = type.parse(text)
    return one === undefined ? undefined : [one]
  },
  fits: (value) => Array.isArray(value) && value.every(type.fits),
  read: (value) => {
    if (!Array.isArray(value)) return undefined
    const read = value.map(type.read).filter((one) => one !== undefined)
    return read.length === value.length ? read : undefined
  },
  schema: { type: 'array', items: type.schema },
  inFolder: (value, folder) =>
    Array.isArray(value) && type.inFolder ? value.map((one: unknown) => type.inFolder?.(one, folder)) : value,
  ...(type.hidden && { hidden: true }),
})

/** Names behind one option, with commas between them. */
export const listOf = (argument: string): ValueType<readonly string[]> => ({
  ...manyOf(plainText(argument)),
  parse: (text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
})

/** As the interface takes it: lists of values by parameter. */
export const search: ValueType<Readonly<Record<string, readonly (string | number)[]>>> = {
  expected: 'a table of lists, such as { CountryCode = ["SE"] }',
  expectedOfCall: 'an object of search parameters',
  ts: 'SearchInput',
  parse: () => undefined,
  fits: isObject,
  read: (value) => {
    if (!isObject(value)) return undefined
    const isValue = (one: unknown): one is string | number => isText(one) || typeof one === 'number'
    const entries = Object.entries(value).flatMap(([name, given]) =>
      Array.isArray(given) && given.length > 0 && given.every(isValue) ? [[name, given] as const] : [],
    )
    const isWhole = entries.length > 0 && entries.length === Object.keys(value).length
    return isWhole ? Object.fromEntries(entries) : undefined
  },
  schema: {
    type: 'object',
    minProperties: 1,
    additionalProperties: { type: 'array', minItems: 1, items: { type: ['string', 'number'] } },
  },
}

const onlyOfCalls = <T>(
  ts: string,
  expectedOfCall: string,
  fits: (value: unknown) => boolean,
): ValueType<T> => ({
  ...{ expected: expectedOfCall, ts, fits, schema: {} },
  parse: () => undefined,
  read: () => undefined,
})

/** What only a program can give. @param ts its type in the interfaces */
export const callback = <T = never>(ts: string): ValueType<T> =>
  onlyOfCalls(ts, 'a function', (value) => typeof value === 'function')

export const object = <T = never>(ts: string, expected = 'an object'): ValueType<T> =>
  onlyOfCalls(ts, expected, isObject)

export const abortSignal: ValueType<AbortSignal> = onlyOfCalls(
  'AbortSignal',
  'an AbortSignal',
  (value) => value instanceof AbortSignal,
)

/** What is one of several types in a call. */
export const either = <T>(ts: string, ...types: readonly ValueType[]): ValueType<T> =>
  onlyOfCalls(ts, types.map((one) => one.expectedOfCall ?? one.expected).join(' or '), (value) =>
    types.some(({ fits }) => fits(value)),
  )

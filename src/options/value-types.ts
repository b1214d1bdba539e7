/**
 * The types of options: how a value stands in a call, as an argument of a command and in `firmlake.toml`, each with its check.
 */

import { resolve } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { BUCKET_FORM, isBucket } from '../core/lake-address.ts'
import { DEFAULT_THREADS } from '../core/memory-shares.ts'
import { CSV_DELIMITERS, type CsvDelimiter } from '../sink/file-format.ts'
import { passwordVariable } from '../sink/targets.ts'
import { instantUntil } from '../support/instants.ts'
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
  /** Reads a value of a call that fits. @default it is taken as it is */
  readonly ofCall?: (value: unknown) => T | undefined
  /** Reads a value of the file. @returns `undefined` for what it is not */
  readonly read: (value: unknown) => T | undefined
  readonly schema: JsonSchema
  /** A value that is relative to the folder of the file, as it is meant. */
  readonly inFolder?: (value: unknown, folder: string) => unknown
  /** A wrong value may be a secret: messages do not show it. */
  readonly hidden?: true
  /** An option that may be repeated: its arguments are collected. */
  readonly many?: { readonly expected: string }
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

/** Rules by name in a call; elsewhere the folder of their files. */
export const folderOfRules: ValueType<string> = {
  ...path('<folder>'),
  ...{ ts: 'Readonly<Record<string, string>>', expectedOfCall: 'an object', fits: isObject },
}

const isCounts = (value: unknown): value is Readonly<Record<string, number>> =>
  isObject(value) && Object.values(value).every((one) => Number.isSafeInteger(one) && Number(one) >= 0)

/** Counts by name; a table of the file. */
export const countsByName: ValueType<Readonly<Record<string, number>>> = {
  ...{ expected: 'a table of whole numbers from 0', expectedOfCall: 'an object of whole numbers from 0' },
  ...{ ts: 'Readonly<Record<string, number>>', fits: isCounts, parse: () => undefined },
  read: (value) => (isCounts(value) ? value : undefined),
  schema: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
}

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

/** Arguments are seen by others: in the list of processes, in the shell's history, in logs of CI. @throws {ToolkitError} USAGE */
const withoutPassword = (address: string): string => {
  const name = passwordVariable(address)
  if (name === undefined) return address
  throw new ToolkitError(
    'USAGE',
    'Cannot use an address of a database with its password in it: the list of processes shows arguments to others; ' +
      `leave it out and set ${name}, or put it into ~/.pgpass`,
  )
}

/** `csv:out`, `firms.duckdb`, `postgres://db/firms`. */
export const target: ValueType<string> = {
  ...plainText('<url>'),
  parse: withoutPassword,
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

export const whole = (min = 1, max = MOST): ValueType<number> => {
  const read = (value: unknown): number | undefined =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
      ? value
      : undefined
  return {
    expected: `a whole number from ${min}${max === MOST ? '' : ` to ${max}`}`,
    expectedOfCall: 'a whole number',
    ts: 'number',
    argument: '<n>',
    parse: (text) => (/^\d{1,15}$/.test(text) ? read(Number(text)) : undefined),
    fits: (value) => Number.isSafeInteger(value),
    read,
    schema: { type: 'integer', minimum: min, ...(max < MOST && { maximum: max }) },
  }
}

/** Clamp typos: no machine has more threads. */
const MOST_THREADS = 1024

/** DuckDB keeps a thread of Node's pool busy for each partition; reading and decoding need theirs beside it. */
export const makeRoomInPool = (threads: number): void => {
  if (threads > DEFAULT_THREADS) process.env.UV_THREADPOOL_SIZE ??= String(threads + 2)
}

export const threadCount: ValueType<number> = {
  ...whole(),
  parse: (text) => {
    const found = whole().parse(text)
    if (found === undefined) return undefined
    const threads = Math.min(found, MOST_THREADS)
    makeRoomInPool(threads)
    return threads
  },
}

/** The folder's owner must be able to work in it, and a folder into which everybody may write is no place for data. */
const [NEEDED, REFUSED] = [0o700, 0o5002]

/** Mode bits as `chmod` takes them. */
export const modeBits: ValueType<number> = {
  ...whole(0),
  expected: 'a mode in octal with all rights for its owner and no writing for others, such as 0700 or 2770',
  argument: '<mode>',
  parse: (text) => {
    const mode = /^[0-7]{3,4}$/.test(text) ? Number.parseInt(text, 8) : 0
    return (mode & NEEDED) === NEEDED && (mode & REFUSED) === 0 ? mode : undefined
  },
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

/** A quantity that people write with a unit, and a call as a number. */
const quantity = (type: TextType<number>): ValueType<number> =>
  textRead({ expectedOfCall: 'a number', ts: 'number', fits: isNumber, ...type })

/** Address of a server. */
export const serverAddress: ValueType<string> = textRead({
  expected: 'HOST:PORT, such as 127.0.0.1:7233',
  argument: '<host:port>',
  parse: (text) => (/^[^\s/:@]+:\d{1,5}$|^\[[\da-fA-F:]+\]:\d{1,5}$/.test(text) ? text : undefined),
})

/** In milliseconds. */
export const duration = (argument = '<time>'): ValueType<number> =>
  quantity({ expected: 'a time such as "90s", "15m", "26h" or "7d"', argument, parse: parseDuration })

/** In milliseconds, of what is kept for long. */
export const age: ValueType<number> = quantity({
  expected: 'a time such as "90d" or "2y"',
  argument: '<time>',
  parse: parseDuration,
})

/** From 0 to 1. */
export const share: ValueType<number> = quantity({
  expected: 'a share such as "5%"',
  argument: '<percent>',
  parse: parseShare,
})

/** In bytes. @param text the least, as a person writes it */
export const size = (min = 1, text?: string): ValueType<number> =>
  quantity({
    expected: text === undefined ? 'bytes such as "1GiB" or "512MB"' : `bytes from ${text}, such as "512MiB"`,
    argument: '<bytes>',
    parse: (given) => {
      const bytes = Math.round(parseSize(given) ?? 0)
      return Number.isSafeInteger(bytes) && bytes >= min ? bytes : undefined
    },
  })

/** A number of lines, or of companies, or a share of all. */
export type QuarantineLimit =
  | { readonly kind: 'count'; readonly lines: number }
  | { readonly kind: 'share'; readonly share: number }

/** A text as a person writes it, a count, or a number below 1, which is a share. */
export const readLimit = (value: unknown): QuarantineLimit | undefined => {
  if (isObject(value)) return value as unknown as QuarantineLimit
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

export const limit: ValueType<QuarantineLimit> = {
  expected: 'a count, or a share such as "5%"',
  expectedOfCall: 'a count such as 25, or a share such as 0.05 or "5%"',
  ts: 'number | string | QuarantineLimit',
  argument: '<limit>',
  parse: readLimit,
  fits: (value) => readLimit(value) !== undefined,
  ofCall: readLimit,
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

const asOfRead = (text: string): string | undefined => {
  if (text === 'now' || text === 'name') return text
  return /^\d{4}-/.test(text) ? instantUntil(text, Date.now()) : undefined
}

/** As of when files are, as a plan keeps it: an instant, `now`, or `name`, the date in each file's name. */
export const instantOfFiles: ValueType<string> = textRead({
  expected:
    '"now", "name" (the date in each file\'s name), or a date or date-time until now, such as 2026-01-31 or 2026-01-31T12:00:00Z',
  argument: '<instant>',
  parse: asOfRead,
  fits: (value) => isText(value) && asOfRead(value) !== undefined,
  ofCall: (value) => asOfRead(String(value)),
})

/** A choice of some texts. */
export const choiceOf = <const Value extends string>(
  argument: string,
  ...values: readonly Value[]
): ValueType<Value> & { readonly choices: readonly Value[] } => ({
  ...textRead<Value>({
    argument,
    expected: values.map((one) => `"${one}"`).join(' or '),
    expectedOfCall: `one of ${values.join(', ')}`,
    ts: values.map((one) => `'${one}'`).join(' | '),
    parse: (text) => values.find((one) => one === text),
    fits: (value) => values.some((one) => one === value),
    schema: { enum: values },
  }),
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

/** A place among workers: `0/4` to `3/4`. */
export const shard: ValueType<{ readonly index: number; readonly of: number }> = {
  ...textRead<{ readonly index: number; readonly of: number }>({
    expected: 'a place from 0 and a number of workers, such as 0/4 to 3/4',
    argument: '<i/n>',
    parse: (text) => {
      const [, index, of] = /^(\d{1,9})\/(\d{1,9})$/.exec(text)?.map(Number) ?? []
      return index !== undefined && of !== undefined && index < of ? { index, of } : undefined
    },
  }),
  ...{ ts: '{ readonly index: number; readonly of: number }', expectedOfCall: 'an object', fits: isObject },
}

/** A list; on the command line an option that may be repeated. */
export const manyOf = <T>(type: ValueType<T>): ValueType<readonly T[]> => ({
  expected: `a list, each ${type.expected}`,
  expectedOfCall:
    type.expectedOfCall === 'a string'
      ? 'a list of strings'
      : `a list, each ${type.expectedOfCall ?? type.expected}`,
  ts: `readonly ${/ \| /.test(type.ts) ? `(${type.ts})` : type.ts}[]`,
  ...(type.argument !== undefined && { argument: type.argument }),
  many: type,
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
export const commaList = (argument: string): ValueType<readonly string[]> => ({
  ...manyOf(plainText(argument)),
  parse: (text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
})

/** Codes of countries, in capitals. */
export const countryCodes: ValueType<readonly string[]> = {
  ...commaList('<codes>'),
  many: { expected: 'codes such as SE,NO' },
  parse: (text) => {
    const codes = text.split(',').map((code) => code.trim().toUpperCase())
    return codes.every((code) => /^[A-Z]{2}$/.test(code)) ? codes : undefined
  },
}

/** A search as a person writes it, which a call gives as an object. */
export const searchText: ValueType<string> = {
  ...plainText('<json>'),
  ...{ ts: 'SearchInput', expectedOfCall: 'an object of search parameters', fits: isObject },
}

/** As the interface takes it: lists of values by parameter. */
export const search: ValueType<Readonly<Record<string, readonly (string | number)[]>>> = {
  expected: 'a table of lists, such as { CountryCode = ["SE"] }',
  ...{ ts: 'SearchInput', parse: () => undefined, fits: isObject },
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

/** A value that only a program can give. @param ts its type in the interfaces */
export const callback = <T = never>(ts: string): ValueType<T> =>
  onlyOfCalls(ts, 'a function', (value) => typeof value === 'function')

export const anObject = <T = never>(ts: string, expected = 'an object'): ValueType<T> =>
  onlyOfCalls(ts, expected, isObject)

export const abortSignal: ValueType<AbortSignal> = onlyOfCalls(
  'AbortSignal',
  'an AbortSignal',
  (value) => value instanceof AbortSignal,
)

/** A text, or what a program makes of one. */
const orObject = (ts: string, expectedOfCall: string) => ({
  ...{ ts, expectedOfCall },
  fits: (value: unknown): boolean => isText(value) || isObject(value),
})

export const hashKey: ValueType<string> = {
  ...plainText(),
  ...orObject('string | Uint8Array', 'a string or an object'),
}

/** Addresses of targets; a call may give sinks, too. */
export const sinkAddresses: ValueType<readonly string[]> = {
  ...manyOf({ ...target, ...orObject('DeliverySink | string', 'an address or a sink') }),
  expected: manyOf(target).expected,
  expectedOfCall: 'a list of addresses and sinks',
}

/** Sources of a conversion; on the command line paths alone. */
export const inputs: ValueType<readonly string[]> = {
  ...manyOf({ ...path(), ...orObject('Input', 'a path or a source') }),
  ts: 'Input | readonly Input[]',
  expectedOfCall: 'paths and sources',
  fits: (value) => [value].flat().every((one) => isText(one) || isObject(one)),
}

const DELIMITERS: Readonly<Record<string, CsvDelimiter>> = { ',': ',', ';': ';', tab: '\t', '|': '|' }

/** Between two cells of CSV. */
export const delimiter: ValueType<CsvDelimiter> = {
  ...textRead<CsvDelimiter>({ expected: '', parse: (text) => DELIMITERS[text], argument: '<char>' }),
  fits: (value) => CSV_DELIMITERS.some((one) => one === value),
  expectedOfCall: `one of ${CSV_DELIMITERS.join(', ')}`,
  ...{ expected: '",", ";", "|" or tab', ts: 'CsvDelimiter' },
}

/** An address of files or a database; a call may give a stream, too. */
export const exportTarget: ValueType<string> = {
  ...target,
  ...orObject('string | ExportTarget', 'an address such as parquet:out'),
}

/** A text of a form. */
export const formedText = (
  argument: string,
  expected: string,
  isOne: (text: string) => boolean,
): ValueType<string> =>
  textRead({
    ...{ argument, expected, expectedOfCall: expected },
    fits: (value) => isText(value) && isOne(value),
    parse: (text) => (isOne(text) ? text : undefined),
  })

/** Milliseconds, which the command line counts in seconds. */
export const seconds: ValueType<number> = {
  ...whole(),
  ...{ argument: '<seconds>', expectedOfCall: 'a number', fits: isNumber },
  parse: (text) => {
    const found = whole().parse(text)
    return found === undefined ? undefined : found * 1000
  },
}

/** Ids have up to 64 bits, more than a number holds. */
const MAX_ID = 2n ** 63n - 1n

const id: ValueType<bigint> = {
  ...{ expected: 'the InternalId, a whole number', ts: 'bigint | number', argument: '<id...>', schema: {} },
  parse: (text) => (/^\d{1,19}$/.test(text) && BigInt(text) <= MAX_ID ? BigInt(text) : undefined),
  fits: (value) => typeof value === 'bigint' || Number.isSafeInteger(value),
  read: () => undefined,
}

export const ids: ValueType<readonly bigint[]> = {
  ...manyOf(id),
  expectedOfCall: 'a list of ids, each a number or a bigint',
}

/** The same with commas between them. */
export const listOfIds: ValueType<readonly bigint[]> = {
  ...{ ...ids, argument: '<n,...>', many: { expected: 'whole numbers such as 100023,100045' } },
  parse: (list) => {
    const strings = list.split(',').map((one) => one.trim())
    return strings.every((one) => /^-?\d{1,19}$/.test(one)) ? strings.map(BigInt) : undefined
  },
}

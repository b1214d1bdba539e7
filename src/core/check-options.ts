/** Checks the options of a call of the library, and refuses a wrong call. Quotes no value: it may be a token. */

import { ToolkitError } from './errors.ts'
import { BUCKET_FORM } from './lake-address.ts'

/** The type of one option. */
export interface OptionType {
  /** In words, for messages. */
  readonly expected: string
  readonly fits: (value: unknown) => boolean
  readonly required?: boolean
}

type NamesOf<Options> = Options extends unknown ? keyof Options : never

/** A type for every option: the compiler names one that is missing. */
export type OptionTypes<Options> = { readonly [Name in NamesOf<Options>]-?: OptionType }

const type = (expected: string, fits: (value: unknown) => boolean): OptionType => ({ expected, fits })

const isText = (value: unknown): value is string => typeof value === 'string'
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const text = type('a string', isText)

/** @param expected better words than those of the type */
const required = (one: OptionType, expected = one.expected): OptionType => ({
  ...one,
  expected,
  required: true,
})

/** The types of options, by what the option is: `is.text`, `is.required(is.count)`. */
export const is = {
  text,
  required,
  lake: required(text, `a folder or ${BUCKET_FORM}`),
  flag: type('true or false', (value) => typeof value === 'boolean'),
  amount: type('a number', (value) => typeof value === 'number' && !Number.isNaN(value)),
  count: type('a whole number', (value) => Number.isSafeInteger(value)),
  callback: type('a function', (value) => typeof value === 'function'),
  signal: type('an AbortSignal', (value) => value instanceof AbortSignal),
  object: type('an object', isObject),
  texts: type('a list of strings', (value) => Array.isArray(value) && value.every(isText)),
  ids: type(
    'a list of ids, each a number or a bigint',
    (value) =>
      Array.isArray(value) && value.every((id) => typeof id === 'bigint' || Number.isSafeInteger(id)),
  ),
  oneOf: (...names: readonly string[]): OptionType =>
    type(`one of ${names.join(', ')}`, (value) => isText(value) && names.includes(value)),
  either: (...types: readonly OptionType[]): OptionType =>
    type(types.map(({ expected }) => expected).join(' or '), (value) =>
      types.some(({ fits }) => fits(value)),
    ),
  /** @param expected of the items, in the plural */
  listOf: (item: OptionType, expected: string): OptionType =>
    type(`a list of ${expected}`, (value) => Array.isArray(value) && value.every(item.fits)),
} as const

/** Several options of one type. */
export const each = <Name extends string>(one: OptionType, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, one])) as Record<Name, OptionType>

const kindOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value
  return kind === 'object' ? 'an object' : kind === 'undefined' ? 'nothing' : `a ${kind}`
}

/**
 * Refuses a wrong call before any work: options that are no object, that lack one, have an unknown one, or one of another type.
 * An option that is `undefined` counts as absent.
 *
 * @param call name of the function
 * @throws {ToolkitError} USAGE saying what was expected
 */
export const checkOptions = <Options extends object>(
  call: string,
  types: OptionTypes<Options>,
  options: Options,
): void => {
  const refuse = (why: string, expected: string): never => {
    throw new ToolkitError('USAGE', `Cannot call ${call}: ${why}, expected ${expected}`)
  }
  if (!isObject(options)) refuse(`it was given ${kindOf(options)}`, 'one object with its options')
  const known = new Map<string, OptionType>(Object.entries(types))
  const given = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined))
  for (const name of given.keys())
    if (!known.has(name)) refuse(`it has no option "${name}"`, `some of ${[...known.keys()].join(', ')}`)
  for (const [name, { expected, fits, required: needed }] of known) {
    if (!given.has(name)) {
      if (needed) refuse(`"${name}" is missing`, expected)
    } else if (!fits(given.get(name))) refuse(`"${name}" is ${kindOf(given.get(name))}`, expected)
  }
}

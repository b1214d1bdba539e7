/**
 * A declaration for each option: what it is, its type, its default, and how a call, the command line and `firmlake.toml` spell it. A
 * table of them is what a job takes; from it come the check of a call, the options of a command, the keys of the file, their
 * reference, and the interfaces of the library (`npm run docs`).
 */

import { ToolkitError } from '../core/errors.ts'
import { isObject } from '../support/json-form.ts'
import type { ValueType } from './value-types.ts'

interface Spelling {
  /** The effect of leaving it out, in words, where no value says it: `all`, `the newest`. */
  readonly otherwise?: string
  /** The doc comment of the library, where it says more than `about`. */
  readonly doc?: string
  /** The option of the command line where its name does not follow; with `-p, ` before it a short one. */
  readonly flag?: string
  /** How a command shows it where it is no option but an argument: `<path...>`, `[sql]`. */
  readonly argument?: string
  /** The words of `--no-…`, which is the option where the value is true without it. */
  readonly no?: string
  /** The section of the file where it is a key; `''` is the top. */
  readonly section?: string
  /** The words of the file, where those of the help do not fit. */
  readonly fileAbout?: string
  /** The key of the file where its name does not follow. */
  readonly key?: string
  /** The environment variable that takes precedence over the file. */
  readonly variable?: string
  /** Who knows it. @default both */
  readonly only?: 'calls' | 'commands'
  /** Options that it cannot be used with, as the command line names their values. */
  readonly conflicts?: string
  /** Values of other options of the command that follow from it. */
  readonly implies?: Readonly<Record<string, unknown>>
}

export interface Entry<T = unknown, Always extends boolean = boolean> extends Spelling {
  /** A phrase, for the help and the reference. */
  readonly about: string
  readonly type: ValueType<T>
  /** Whether it must be given. */
  readonly required: boolean
  /** Whether a job always has a value: it must be given, or has a default. */
  readonly always: Always
  /** The value without it, and how a person writes it. */
  readonly default?: { readonly value: T; readonly text: string }
}

export type OptionTable = Readonly<Record<string, Entry>>

type ValueOf<E extends Entry> = E['type'] extends ValueType<infer V> ? V : never
/** The names of a table that a job always has a value of. */
type AlwaysIn<T> = { [Name in keyof T]: T[Name] extends Entry<unknown, true> ? Name : never }[keyof T]

type OfCommand<T, Name extends keyof T> = T[Name] extends { readonly only: 'calls' } ? never : Name
/** An argument that a command can do without is not always there. */
type AlwaysInCommand<T, Name extends keyof T> = T[Name] extends { readonly argument: `[${string}` }
  ? Name & DefaultIn<T>
  : Name & AlwaysIn<T>

/** The values of a command. */
export type ValuesOf<T extends OptionTable> = {
  readonly [Name in keyof T as AlwaysInCommand<T, OfCommand<T, Name>>]: ValueOf<T[Name]>
} & {
  readonly [Name in keyof T as Exclude<OfCommand<T, Name>, AlwaysInCommand<T, OfCommand<T, Name>>>]?:
    | ValueOf<T[Name]>
    | undefined
}

/** The values of a command that its job takes, too. */
export type AskedOf<T extends OptionTable> = {
  readonly [Name in keyof ValuesOf<T> as Name extends keyof T
    ? T[Name] extends { readonly only: 'commands' }
      ? never
      : Name
    : never]: ValuesOf<T>[Name]
}

/** Picks the values that a command hands on to the job. */
export const askedOf = <T extends OptionTable, Values extends object>(
  table: T,
  values: Values,
): Pick<Values, Extract<keyof Values, keyof AskedOf<T>>> =>
  Object.fromEntries(
    Object.entries(values).filter(([name]) => table[name] !== undefined && table[name].only === undefined),
  ) as unknown as Pick<Values, Extract<keyof Values, keyof AskedOf<T>>>

/** Picks the options of a call that another job takes, too. */
export const takenBy = <T extends OptionTable, Options extends object>(
  table: T,
  options: Options,
): Pick<Options, Extract<keyof Options, keyof T>> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => name in table)) as unknown as Pick<
    Options,
    Extract<keyof Options, keyof T>
  >

type DefaultIn<T> = {
  [Name in keyof T]: T[Name] extends { readonly default: object } ? Name : never
}[keyof T]

/** The options of a call as its job works with them: what has a default is there. @template Options as they were given */
export type Read<Options, T extends OptionTable> = Options extends unknown
  ? {
      readonly [Name in Extract<keyof Options, DefaultIn<T>>]-?: ValueOf<T[Name]>
    } & Omit<Options, DefaultIn<T> & string>
  : never

/** An option that may be left out. */
export const option = <T, const More extends Spelling = Record<never, never>>(
  type: ValueType<T>,
  about: string,
  more?: More,
): Entry<T, false> & NoInfer<More> => ({
  about,
  type,
  required: false,
  always: false,
  ...(more as NoInfer<More>),
})

/** An option that must be given. */
export const needed = <T, const More extends Spelling = Record<never, never>>(
  type: ValueType<T>,
  about: string,
  more?: More,
): Entry<T, true> & NoInfer<More> => ({
  about,
  type,
  required: true,
  always: true,
  ...(more as NoInfer<More>),
})

/** An option with a default. @param by the default as a person writes it; with its value where its type cannot read that */
export const withDefault = <T, const More extends Spelling = Record<never, never>>(
  type: ValueType<T>,
  about: string,
  by: string | { readonly value: T; readonly text: string },
  more?: More,
): Entry<T, true> & Required<Pick<Entry<T>, 'default'>> & NoInfer<More> => {
  const read = typeof by === 'string' ? type.parse(by) : by.value
  const text = typeof by === 'string' ? by : by.text
  if (read === undefined) throw new TypeError(`Default "${text}" of an option is not ${type.expected}`)
  return {
    about,
    type,
    required: false,
    always: true,
    default: { value: read, text },
    ...(more as NoInfer<More>),
  }
}

const spelled = (name: string, between: string): string =>
  name.replace(/[A-Z]/g, (letter) => `${between}${letter.toLowerCase()}`)

/** `--max-quarantined`. */
export const flagOf = (name: string, { flag, no }: Entry): string =>
  flag?.replace(/^-\w, /, '') ?? `--${no === undefined ? '' : 'no-'}${spelled(name, '-')}`

/** `max_quarantined`. */
export const fileKeyOf = (name: string, { key }: Entry): string => key ?? spelled(name, '_')

const kindOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value
  return kind === 'object' ? 'an object' : kind === 'undefined' ? 'nothing' : `a ${kind}`
}

/** A number may be shown: it is no secret. */
const shown = (value: unknown): string => (typeof value === 'number' ? `${value}` : kindOf(value))

/**
 * Reads the options of a call, before any work: refuses what is no object, lacks an option, has an unknown one, or one of another type.
 * An option that is `undefined` counts as absent. Quotes no text: it may be a token.
 *
 * @param call name of the function
 * @returns the options with their defaults
 * @throws {ToolkitError} USAGE saying what was expected
 */
export const readCall = <Options, T extends OptionTable>(
  call: string,
  table: T,
  options: Options,
): Read<Options, T> => {
  const refused = (why: string, expected: string): ToolkitError =>
    new ToolkitError('USAGE', `Cannot call ${call}: ${why}, expected ${expected}`)
  if (!isObject(options)) throw refused(`it was given ${kindOf(options)}`, 'one object with its options')
  const known = new Map(Object.entries<Entry>(table).filter(([, { only }]) => only !== 'commands'))
  const given = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined))
  for (const name of given.keys())
    if (!known.has(name))
      throw refused(`it has no option "${name}"`, `some of ${[...known.keys()].join(', ')}`)
  for (const [name, { type, required, default: otherwise }] of known) {
    const expected = type.expectedOfCall ?? type.expected
    const value = given.get(name)
    if (value === undefined) {
      if (required) throw refused(`"${name}" is missing`, expected)
      if (otherwise !== undefined) given.set(name, otherwise.value)
    } else if (!type.fits(value)) throw refused(`"${name}" is ${shown(value)}`, expected)
    else if (type.ofCall) given.set(name, type.ofCall(value))
  }
  return Object.fromEntries(given) as unknown as Read<Options, T>
}

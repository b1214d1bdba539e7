/**
 * One declaration an option: what it is, its type, its default, and how a call, the command line and `firmlake.toml` spell it. A
 * table of them is what a job takes; from it come the check of a call, the options of a command, the keys of the file, their
 * reference, and the interfaces of the library (`npm run docs`).
 */

import { ToolkitError } from '../core/errors.ts'
import { isObject } from '../support/json-form.ts'
import type { ValueType } from './value-types.ts'

interface Spelling {
  /** What counts without it, in words, where no value does: `all`, `the newest`. */
  readonly otherwise?: string
  /** The doc comment of the library, where it says more than `about`. */
  readonly doc?: string
  /** The option of the command line where its name does not follow; with `-p, ` before it a short one. */
  readonly flag?: string
  /** The words of `--no-…`, which is the option where the value is true without it. */
  readonly no?: string
  /** The key of the file where its name does not follow. */
  readonly key?: string
  /** The environment variable that takes precedence over the file. */
  readonly variable?: string
  /** Who knows it. @default both */
  readonly only?: 'calls' | 'commands'
  /** The heading of the help that it stands under, in a command with many. */
  readonly group?: string
  /** Options that it cannot be used with, as the command line names their values. */
  readonly conflicts?: string
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

export type Table = Readonly<Record<string, Entry>>

/** The values of a table as a job works with them. */
export type ValuesOf<T extends Table> = {
  readonly [Name in keyof T as T[Name] extends Entry<unknown, true>
    ? Name
    : never]: T[Name]['type'] extends ValueType<infer V> ? V : never
} & {
  readonly [Name in keyof T as T[Name] extends Entry<unknown, true> ? never : Name]?:
    | (T[Name]['type'] extends ValueType<infer V> ? V : never)
    | undefined
}

/** An option that may be left out. */
export const option = <T>(type: ValueType<T>, about: string, more: Spelling = {}): Entry<T, false> => ({
  ...{ about, type, required: false, always: false },
  ...more,
})

/** An option that must be given. */
export const needed = <T>(type: ValueType<T>, about: string, more: Spelling = {}): Entry<T, true> => ({
  ...{ about, type, required: true, always: true },
  ...more,
})

/** An option with a default. @param text the default as a person writes it */
export const withDefault = <T>(
  type: ValueType<T>,
  about: string,
  text: string,
  more: Spelling & { readonly value?: T } = {},
): Entry<T, true> => {
  const { value = type.parse(text), ...spelling } = more
  if (value === undefined) throw new TypeError(`Default "${text}" of an option is not ${type.expected}`)
  return { about, type, required: false, always: true, default: { value, text }, ...spelling }
}

const spelled = (name: string, between: string): string =>
  name.replace(/[A-Z]/g, (letter) => `${between}${letter.toLowerCase()}`)

/** `--max-quarantined`. */
export const flagOf = (name: string, { flag, no }: Entry): string =>
  flag?.replace(/^-\w, /, '') ?? `--${no === undefined ? '' : 'no-'}${spelled(name, '-')}`

/** `max_quarantined`. */
export const keyOf = (name: string, { key }: Entry): string => key ?? spelled(name, '_')

const kindOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value
  return kind === 'object' ? 'an object' : kind === 'undefined' ? 'nothing' : `a ${kind}`
}

/**
 * Refuses a wrong call before any work: options that are no object, that lack one, have an unknown one, or one of another type.
 * An option that is `undefined` counts as absent. Quotes no value: it may be a token.
 *
 * @param call name of the function
 * @throws {ToolkitError} USAGE saying what was expected
 */
export const checkCall = (call: string, table: Table, options: unknown): void => {
  const refused = (why: string, expected: string): ToolkitError =>
    new ToolkitError('USAGE', `Cannot call ${call}: ${why}, expected ${expected}`)
  if (!isObject(options)) throw refused(`it was given ${kindOf(options)}`, 'one object with its options')
  const known = new Map(Object.entries(table).filter(([, { only }]) => only !== 'commands'))
  const given = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined))
  for (const name of given.keys())
    if (!known.has(name))
      throw refused(`it has no option "${name}"`, `some of ${[...known.keys()].join(', ')}`)
  for (const [name, { type, required }] of known) {
    const expected = type.expectedOfCall ?? type.expected
    if (!given.has(name)) {
      if (required) throw refused(`"${name}" is missing`, expected)
    } else if (!type.fits(given.get(name))) throw refused(`"${name}" is ${kindOf(given.get(name))}`, expected)
  }
}

/**
 * The projection of a lake or a target: which records, columns and values it leaves out, masks or computes. As a person
 * declares it, and as a manifest and a plan keep it, where a key is known by its id alone.
 */

import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../../core/errors.ts'
import { anyText, type Form, list, optional, shapeOf, valuesOf, yesNo } from '../../support/json-form.ts'

/** A projection. Columns are named `table.column`; `persons` names all that the contract marks as personal data. */
export interface Projection {
  /** ISO 3166-1 alpha-2 codes: companies and relations of other countries, or of none, are left out. @default all */
  readonly countries?: readonly string[] | undefined
  /** SQL condition on the columns of `companies`; a company for which it does not hold is left out. @default all */
  readonly where?: string | undefined
  /** The same of relations, on the columns of the table `relations`. @default all */
  readonly whereRelations?: string | undefined
  /** Tables, columns, or `persons`: a table has no rows, a column is NULL. @default nothing */
  readonly leaveOut?: readonly string[] | undefined
  /** Columns, or `persons`, and the text that stands for their values; other columns than texts are NULL. @default nothing */
  readonly mask?: Readonly<Record<string, string>> | undefined
  /** Columns of texts, or `persons`: HMAC-SHA-256 of the value with a key of one's own, in hexadecimal. @default nothing */
  readonly hash?: readonly string[] | undefined
  /** Further columns by `table.column`: SQL over the columns of that table, as they are taken. @default none */
  readonly compute?: Readonly<Record<string, string>> | undefined
  /** Keeps the text of lines that cannot be loaded, whatever stands in them. @default false */
  readonly keepBadLines?: boolean | undefined
}

/** A declaration as it is kept: without what is empty, in one order. */
export interface KeptTake extends Projection {
  /** Id of the key of `hash`: see `hash-key.ts`. */
  readonly keyId?: string | undefined
  /** A function of a program leaves records out too. */
  readonly byFunction?: boolean | undefined
}

export const KEPT_TAKE: Form<KeptTake> = shapeOf<KeptTake>({
  countries: optional(list(anyText)),
  where: optional(anyText),
  whereRelations: optional(anyText),
  leaveOut: optional(list(anyText)),
  mask: optional(valuesOf(anyText)),
  hash: optional(list(anyText)),
  compute: optional(valuesOf(anyText)),
  keepBadLines: optional(yesNo),
  keyId: optional(anyText),
  byFunction: optional(yesNo),
})

const valuesByName = (
  what: string,
  given: readonly string[],
  pattern: RegExp,
  expected: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    given.map((one) => {
      const [, name, value] = pattern.exec(one) ?? []
      if (name === undefined || value === undefined)
        throw new ToolkitError('PROJECTION_INVALID', `Cannot ${what} "${one}": expected ${expected}`)
      return [name.trim(), value]
    }),
  )

/** `companies.email=hidden`, as a person writes it. @throws {ToolkitError} PROJECTION_INVALID */
export const masksOf = (given: readonly string[]): Readonly<Record<string, string>> =>
  valuesByName('mask', given, /^([^=]+)=(.*)$/s, 'name=text, such as companies.email=hidden')

/** `companies.is_large=employees > 250` by name. @throws {ToolkitError} PROJECTION_INVALID */
export const computedOf = (given: readonly string[]): Readonly<Record<string, string>> =>
  valuesByName(
    'compute',
    given,
    /^([^=]+)=(.+)$/s,
    'table.column=SQL, such as "companies.has_email=email IS NOT NULL"',
  )

const inOrder = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

const named = <Name extends string>(name: Name, names: readonly string[]) =>
  names.length === 0 ? {} : { [name]: inOrder(names) }

const byName = <Name extends string>(name: Name, strings: readonly (readonly [string, string])[]) =>
  strings.length === 0
    ? {}
    : { [name]: Object.fromEntries([...strings].sort(([a], [b]) => (a < b ? -1 : 1))) }

/** The declaration in its one form: equal ones are equal texts. */
export const keptTake = (take: KeptTake): KeptTake => {
  const { countries = [], where, whereRelations, leaveOut = [], mask = {}, hash = [], compute = {} } = take
  return {
    ...named(
      'countries',
      countries.map((code) => code.toUpperCase()),
    ),
    ...(where?.trim() && { where: where.trim() }),
    ...(whereRelations?.trim() && { whereRelations: whereRelations.trim() }),
    ...named('leaveOut', leaveOut),
    ...byName('mask', Object.entries(mask)),
    ...named('hash', hash),
    ...byName(
      'compute',
      Object.entries(compute).map(([name, sql]) => [name, sql.trim()]),
    ),
    ...(take.keepBadLines && { keepBadLines: true }),
    ...(take.keyId !== undefined && { keyId: take.keyId }),
    ...(take.byFunction && { byFunction: true }),
  }
}

export const takesAll = (take: KeptTake): boolean => Object.keys(keptTake(take)).length === 0

/** Whether rows lack nothing of what came, be there further columns or not. */
export const hidesNothing = (take: KeptTake): boolean => takesAll({ ...take, compute: undefined })

export const isSameProjection = (a: KeptTake, b: KeptTake): boolean =>
  isDeepStrictEqual(keptTake(a), keptTake(b))

/** A projection in words, without a value of the data or a key. */
export const projectionText = (take: KeptTake): string => {
  const { countries, where, whereRelations, leaveOut, mask, hash, keyId, byFunction, compute } =
    keptTake(take)
  const parts = [
    countries && `only countries ${countries.join(', ')}`,
    where && `only companies where ${where}`,
    whereRelations && `only relations where ${whereRelations}`,
    byFunction && 'only records that a function of a program lets pass',
    leaveOut && `left out: ${leaveOut.join(', ')}`,
    mask && `masked: ${Object.keys(mask).join(', ')}`,
    hash && `hashed with key ${keyId}: ${hash.join(', ')}`,
    compute &&
      `computed: ${Object.entries(compute)
        .map(([name, sql]) => `${name} = ${sql}`)
        .join(', ')}`,
  ].filter((part) => part !== undefined && part !== false)
  return parts.length === 0 ? 'everything is taken' : parts.join('; ')
}

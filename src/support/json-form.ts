/**
 * Forms of JSON data that comes from outside, put together from small ones. A form gives the value back as it is, with
 * its type, or throws where it does not fit, naming the place and what was expected, never the value: that may be a secret.
 */

/** A value that does not fit, by its place in the document: `tokens[2].name`. */
export class FormError extends Error {
  readonly place: string
  constructor(place: string, expected: string) {
    super(`${place}: expected ${expected}`)
    this.place = place
  }
}

export type Form<T> = (value: unknown, place: string) => T
export type FormOf<F> = F extends Form<infer T> ? T : never

export type JsonObject = Readonly<Record<string, unknown>>

/** An object, no list and not `null`. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object's own member; `undefined` where there is none, also for names such as `constructor`. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** A form out of a type guard. */
export const form =
  <T>(fits: (value: unknown) => value is T, expected: string): Form<T> =>
  (value, place) => {
    if (fits(value)) return value
    throw new FormError(place, expected)
  }

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

export const anyText: Form<string> = form(isText, 'a text')
export const finiteNumber: Form<number> = form(isNumber, 'a number')
/** A whole number from 0. */
export const count: Form<number> = form(isCount, 'a whole number from 0')
export const yesNo: Form<boolean> = form(
  (value): value is boolean => typeof value === 'boolean',
  'true or false',
)
export const anything: Form<unknown> = (value) => value
export const positive: Form<number> = form(
  (value): value is number => isNumber(value) && value > 0,
  'a number above 0',
)
export const wholePositive: Form<number> = form(
  (value): value is number => isCount(value) && value > 0,
  'a whole number from 1',
)

/** A text that a pattern describes. */
export const textLike = (pattern: RegExp, expected: string): Form<string> =>
  form((value): value is string => isText(value) && pattern.test(value), expected)

/** 64 hexadecimal digits in lower case. */
export const sha256: Form<string> = textLike(/^[0-9a-f]{64}$/, '64 hexadecimal digits')

/** A value of a closed set. */
export const oneOf = <const T extends string | number | boolean>(set: readonly T[]): Form<T> =>
  form(
    (value): value is T => set.some((one) => one === value),
    `one of ${set.map((one) => JSON.stringify(one)).join(', ')}`,
  )

export const orNull =
  <T>(inner: Form<T>): Form<T | null> =>
  (value, place) =>
    value === null ? null : inner(value, place)

/** The form of a field that may be absent. */
export interface OptionalForm<T> {
  readonly optional: Form<T>
}
export const optional = <T>(inner: Form<T>): OptionalForm<T> => ({ optional: inner })

/** Forms of the fields of an object, by name. */
export type Fields = Readonly<Record<string, Form<unknown> | OptionalForm<unknown>>>
type RequiredNames<F extends Fields> = {
  [K in keyof F]: F[K] extends OptionalForm<unknown> ? never : K
}[keyof F]
/** An object with these fields. */
export type ObjectOf<F extends Fields> = {
  readonly [K in RequiredNames<F>]: F[K] extends Form<infer T> ? T : never
} & {
  readonly [K in Exclude<keyof F, RequiredNames<F>>]?: F[K] extends OptionalForm<infer T> ? T : never
}

/** Throws for a value that is no object of these fields. */
const checkFields = (value: unknown, fields: Fields, place: string): void => {
  if (!isObject(value)) throw new FormError(place, 'an object')
  for (const [name, inner] of Object.entries(fields)) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    const at = place === '' ? name : `${place}.${name}`
    if (typeof inner === 'function') inner(member, at)
    else if (member !== undefined) inner.optional(member, at)
  }
}

/** An object with these fields. Others are let through: later releases add some. */
export const objectOf =
  <F extends Fields>(fields: F): Form<ObjectOf<F>> =>
  (value, place) => {
    checkFields(value, fields, place)
    return value as ObjectOf<F>
  }

/** Forms of all fields of a declared type: one that is added to it is missed here too. */
export type FieldForms<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? OptionalForm<T[K]> : Form<T[K]>
}

/** An object of a declared type. Other fields are let through. */
export const shapeOf = <T extends object>(fields: FieldForms<T>): Form<T> => {
  const known: Fields = { ...fields }
  return (value, place) => {
    checkFields(value, known, place)
    return value as T
  }
}

/** An object with these fields and no others: a person writes it, and a typo is to show. */
export const strictObject =
  <F extends Fields>(fields: F): Form<ObjectOf<F>> =>
  (value, place) => {
    if (!isObject(value)) throw new FormError(place, 'an object')
    const unknown = Object.keys(value).findIndex((name) => !Object.hasOwn(fields, name))
    // The field is named by its number: a token pasted in the wrong place may have become a field's name.
    if (unknown >= 0)
      throw new FormError(`${place}, field ${unknown + 1}`, `one of ${Object.keys(fields).join(', ')}`)
    checkFields(value, fields, place)
    return value as ObjectOf<F>
  }

export const list =
  <T>(inner: Form<T>): Form<readonly T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw new FormError(place, 'a list')
    for (const [at, one] of value.entries()) inner(one, `${place}[${at}]`)
    return value
  }

/** A list with something in it. */
export const someOf =
  <T>(inner: Form<T>): Form<readonly T[]> =>
  (value, place) => {
    if (Array.isArray(value) && value.length > 0) return list(inner)(value, place)
    throw new FormError(place, 'a list with at least one entry')
  }

/** An object of any names, whose values are all of one form. */
export const valuesOf =
  <T>(inner: Form<T>): Form<Readonly<Record<string, T>>> =>
  (value, place) => {
    if (!isObject(value)) throw new FormError(place, 'an object')
    for (const [name, one] of Object.entries(value)) inner(one, `${place}.${name}`)
    return value as Readonly<Record<string, T>>
  }

/** The place at which a value does not fit, and what was expected there; `null` where it fits. */
export const misfitOf = <T>(expected: Form<T>, value: unknown, place: string): FormError | null => {
  try {
    expected(value, place)
    return null
  } catch (error) {
    if (error instanceof FormError) return error
    throw error
  }
}

export const fits = <T>(expected: Form<T>, value: unknown): value is T =>
  misfitOf(expected, value, '') === null

/** JSON text of a form; `undefined` where it is no JSON or does not fit. */
export const parseAs = <T>(expected: Form<T>, json: string): T | undefined => {
  try {
    return expected(JSON.parse(json), '')
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FormError) return undefined
    throw error
  }
}

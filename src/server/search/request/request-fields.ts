/** Fields of a request body by their declared types. A field that is `null` counts as not given. */

import { BODY_MESSAGES, sentence } from '../../../contract/messages.ts'
import type { RequestField } from '../../../contract/requests.ts'
import { SERVER_LIMITS } from '../../../core/server-limits.ts'
import { type ExactObject, isJsonObject } from '../../../support/exact-json.ts'

const isText = (value: unknown): value is string => typeof value === 'string'
const isInteger = (value: unknown): value is number => Number.isInteger(value)
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

const TYPES: Readonly<
  Record<RequestField['type'], { readonly name: string; readonly is: (value: unknown) => boolean }>
> = {
  'search parameters': { name: 'an object of parameter names and arrays of values', is: isJsonObject },
  text: { name: 'a string', is: isText },
  integer: { name: 'an integer', is: isInteger },
  boolean: { name: 'true or false', is: isBoolean },
}

export const fieldMessage = (field: string, type: string): string =>
  sentence(BODY_MESSAGES.fieldInvalid, { field, type })

/** A message for each declared field that is given with another type. Fields that are not declared are ignored. */
export const fieldMessages = (
  declared: Readonly<Record<string, RequestField>>,
  body: Readonly<ExactObject>,
): string[] =>
  Object.entries(declared).flatMap(([name, { type }]) =>
    isGiven(body, name) && !TYPES[type].is(body[name]) ? [fieldMessage(name, TYPES[type].name)] : [],
  )

const isGiven = (body: Readonly<ExactObject>, name: string): boolean =>
  Object.hasOwn(body, name) && body[name] !== null && body[name] !== undefined

const read =
  <T>(is: (value: unknown) => value is T) =>
  (body: Readonly<ExactObject>, name: string): T | undefined => {
    const value = isGiven(body, name) ? body[name] : undefined
    return is(value) ? value : undefined
  }
/** A field's value; `undefined` where it is not given, or not of this type. */
export const textField = read(isText)
export const integerField = read(isInteger)
export const booleanField = read(isBoolean)
export const objectField = read(isJsonObject)

/**
 * The messages of a refusal: those of the body first, then the others in the order of the contract's table, each
 * sentence once, and no more of them than a person reads: a request may have a fault in each of its bytes.
 */
export const inOrder = (
  table: object,
  bodyMessages: readonly string[],
  said: readonly { readonly key: string; readonly text: string }[],
): readonly string[] =>
  [
    ...new Set([
      ...bodyMessages,
      ...Object.keys(table).flatMap((key) => said.filter((one) => one.key === key).map(({ text }) => text)),
    ]),
  ].slice(0, SERVER_LIMITS.messages)

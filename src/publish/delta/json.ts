/** JSON of a log that others may have written: untrusted input, validate first. */

import { isObject, type JsonObject } from '../../support/json-form.ts'

export const objectAt = (value: JsonObject, name: string): JsonObject | undefined => {
  const found = value[name]
  return isObject(found) ? found : undefined
}

export const textAt = (value: JsonObject, name: string): string | undefined => {
  const found = value[name]
  return typeof found === 'string' ? found : undefined
}

export const numberAt = (value: JsonObject, name: string): number | undefined => {
  const found = value[name]
  return typeof found === 'number' ? found : undefined
}

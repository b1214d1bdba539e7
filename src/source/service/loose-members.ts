/** Members of objects whose spelling the interface does not show: found in any letter case. */

import { isObject } from '../../support/json-form.ts'

/** The first of the names that the object has, with its letter case left aside; null counts as absent. */
export const looseMember = (value: unknown, ...names: readonly string[]): unknown => {
  if (!isObject(value)) return undefined
  const members = Object.entries(value)
  return names
    .map(
      (name) => members.find(([key, item]) => key.toLowerCase() === name.toLowerCase() && item !== null)?.[1],
    )
    .find((item) => item !== undefined)
}

/** The first of the names under which the object has a text that is not empty, as {@link looseMember}. */
export const looseText = (value: unknown, ...names: readonly string[]): string | undefined => {
  const items = names.map((name) => looseMember(value, name))
  return items.find((item): item is string => typeof item === 'string' && item !== '')
}

/** As {@link looseMember}, where it is a whole number from 0, also in quotes. */
export const looseCount = (value: unknown, ...names: readonly string[]): number | undefined => {
  const item = looseMember(value, ...names)
  const count = typeof item === 'string' && /^\d+$/.test(item) ? Number(item) : item
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

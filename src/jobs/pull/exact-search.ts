/**
 * Searches with ids beyond 2^53: JavaScript has no number for them, JSON no bigint. Here such an id is a text of all its
 * digits, in plans and manifests too; the request has it as the number that it is.
 */

import {
  FILTER_CLASSES,
  isIdParameter,
  type SearchInput,
  type SearchParameters,
  YEAR_SUFFIX,
} from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'

/** An id as a search has it: a number, beyond 2^53 a text. */
export type IdValue = number | string

export const idValue = (id: bigint): IdValue => {
  const number = Number(id)
  return Number.isSafeInteger(number) ? number : String(id)
}

const FIGURES = new Set(FILTER_CLASSES.figure.parameters.map((name) => name.toLowerCase()))
const isFigure = (name: string): boolean =>
  FIGURES.has(name.toLowerCase().split(YEAR_SUFFIX.toLowerCase())[0] ?? '')

/** A search as a person gave it, with whole numbers beyond 2^53 as texts; of figures, which are doubles, as numbers. */
export const exactSearch = (search: SearchInput): SearchParameters =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [
      name,
      values.map((value) =>
        typeof value !== 'bigint' ? value : isFigure(name) ? Number(value) : idValue(value),
      ),
    ]),
  )

/** @throws {ToolkitError} VALUES_REFUSED for an id that was rounded before it came here, or is none */
export const checkIds = (search: SearchParameters): void => {
  for (const [name, values] of Object.entries(search))
    for (const value of isIdParameter(name) ? values : [])
      if (typeof value === 'number' && !Number.isSafeInteger(value))
        throw new ToolkitError(
          'VALUES_REFUSED',
          `Cannot search by "${name}": ${value} is no exact whole number, expected an id with all its digits; beyond 2^53 ` +
            'as a text or a bigint',
          { parameter: name },
        )
}

const DIGITS = /^-?\d+$/
/** Equal for values that name the same id. */
const idKey = (value: IdValue): string => (DIGITS.test(String(value)) ? String(BigInt(value)) : String(value))

const idsOf = (search: SearchParameters): readonly [name: string, ids: readonly IdValue[]] | undefined =>
  Object.entries(search).find(([name]) => isIdParameter(name))

/** The ids that a search names; `undefined` where it names none. */
export const askedIds = (search: SearchParameters): ReadonlySet<bigint> | undefined => {
  const [, values] = idsOf(search) ?? []
  return values && new Set(values.flatMap((value) => (DIGITS.test(String(value)) ? [BigInt(value)] : [])))
}

/** A search by more ids than one request may name, as several that may; each id once. Any other search as it is. */
export const searchesByIds = (search: SearchParameters, most: number): readonly SearchParameters[] => {
  const [name, values = []] = idsOf(search) ?? []
  if (name === undefined || values.length <= most) return [search]
  const ids = [...new Map(values.map((value) => [idKey(value), value])).values()]
  return groupsOf(ids, most).map((group) => ({ ...search, [name]: group }))
}

/** Items in groups of a size. */
export const groupsOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))

/** A search for some companies by their ids. */
export const searchForIds = (ids: readonly bigint[]): SearchParameters => ({ InternalId: ids.map(idValue) })

/** Searches as data: filters by name in any letter case, and a check against the live parameters. */

import type { Content } from '../../contract/objects.ts'
import {
  FILTER_CLASSES,
  isIdParameter,
  type SearchInput,
  type SearchParameters,
  YEAR_SUFFIX,
} from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { namesPersons } from '../../manifest/form/sources.ts'
import { parseExact } from '../../support/exact-numbers.ts'
import { type Form, fits, form, list, valuesOf } from '../../support/json-form.ts'
import { nearestName } from '../../support/nearest-name.ts'

export type FilterValues = readonly (string | number)[]

/** A live search parameter, as far as pulling needs it. */
export interface LiveParameter {
  readonly name: string
  readonly datatype?: string
  readonly sortable?: boolean
  readonly values?: readonly { readonly value: string | number }[]
}

const SEARCH: Form<SearchInput> = valuesOf(
  list(
    form(
      (value): value is string | number | bigint => ['string', 'number', 'bigint'].includes(typeof value),
      'a value',
    ),
  ),
)
/** Whether a value is an object of arrays of texts and numbers. */
const isSearch = (value: unknown): value is SearchInput => fits(SEARCH, value)

/** Reads a search as JSON; `name` is where it was given. @throws {ToolkitError} USAGE */
export const parseSearch = (text: string, name = '--search'): SearchParameters => {
  let value: unknown
  try {
    value = parseExact(text)
  } catch (error) {
    throw new ToolkitError('USAGE', `Cannot read ${name}: it is no JSON`, {}, error)
  }
  if (isSearch(value)) return exactSearch(value)
  throw new ToolkitError(
    'USAGE',
    `Cannot read ${name}: expected an object of arrays of texts and numbers, such as {"CountryCode":["SE"]}`,
  )
}

export const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The values of a filter, whatever the letter case of its name. */
export const filterOf = (search: SearchParameters, parameter: string): FilterValues | undefined =>
  Object.entries(search).find(([name]) => sameName(name, parameter))?.[1]

/** The search with one filter set, in place of one of the same name. */
export const withFilter = (
  search: SearchParameters,
  parameter: string,
  values: FilterValues,
): SearchParameters =>
  Object.fromEntries([
    ...Object.entries(search).filter(([name]) => !sameName(name, parameter)),
    [parameter, values],
  ])

/**
 * Two searches that ask for the same: letter case and order of names do not matter, values do. Those that name persons are
 * not: of their numbers only how many there were is recorded.
 */
export const sameSearch = (a: SearchParameters, b: SearchParameters): boolean =>
  !namesPersons(a) && canonical(a) === canonical(b)

const canonical = (search: SearchParameters): string =>
  JSON.stringify(
    Object.entries(search)
      .map(([name, values]) => [name.toLowerCase(), values] as const)
      .sort(([x], [y]) => (x < y ? -1 : x > y ? 1 : 0)),
  )

/**
 * Checks that each filter is a live parameter, named once, with values.
 *
 * @throws {ToolkitError} SEARCH_MISSING, PARAMETER_REFUSED with the nearest name, VALUES_REFUSED
 */
export const checkSearch = (
  content: Content,
  search: SearchParameters,
  parameters: readonly LiveParameter[],
): void => {
  const names = Object.keys(search)
  if (names.length === 0)
    throw new ToolkitError('SEARCH_MISSING', `Cannot search ${content}: the search has no parameter`)
  for (const [at, name] of names.entries()) {
    checkParameterName(content, name, parameters)
    if (names.slice(0, at).some((other) => sameName(other, name)))
      throw valuesRefused(content, name, 'it is given twice')
    if (search[name]?.length === 0) throw valuesRefused(content, name, 'it has no values')
  }
  checkIds(search)
}

/** @throws {ToolkitError} PARAMETER_REFUSED with the nearest name */
export const checkParameterName = (
  content: Content,
  name: string,
  parameters: readonly LiveParameter[],
): void => {
  // An empty listing rejects nothing; the service will.
  if (parameters.length === 0) return
  const known = parameters.map((parameter) => parameter.name)
  if ([name, withoutYear(name)].some((one) => known.some((other) => sameName(one, other)))) return
  const near = nearestName(withoutYear(name), known)
  throw new ToolkitError(
    'PARAMETER_REFUSED',
    `Cannot search ${content} by "${name}": the service has no such parameter` +
      (near === undefined ? '' : `, "${near}" is the nearest`),
    { content, parameter: name, ...(near !== undefined && { nearest: near }) },
  )
}

const valuesRefused = (content: Content, parameter: string, state: string): ToolkitError =>
  new ToolkitError('VALUES_REFUSED', `Cannot search ${content} by "${parameter}": ${state}`, {
    content,
    parameter,
  })

const withoutYear = (name: string): string => name.replace(new RegExp(`${YEAR_SUFFIX}\\d{4}$`, 'i'), '')

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
const checkIds = (search: SearchParameters): void => {
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

/** The search parameters that each operation knows, found by a name in any letter case. */

import { COMPANY_PARAMETERS } from '../../../contract/listings.ts'
import type { Content } from '../../../contract/objects.ts'
import {
  FILTER_CLASSES,
  type FilterClass,
  RELATIONS_PARAMETERS,
  YEAR_SUFFIX,
} from '../../../contract/requests.ts'

export interface KnownParameter {
  /** As the contract spells it. */
  readonly name: string
  readonly filterClass: FilterClass
  readonly datatype: string
  readonly sortable: boolean
}

const classOf = (name: string): FilterClass => {
  const { identifier, date, text } = FILTER_CLASSES
  const isIn = (parameters: readonly string[]): boolean => parameters.includes(name)
  if (isIn(identifier.parameters)) return 'identifier'
  if (isIn(date.parameters)) return 'date'
  return isIn(text.parameters) ? 'text' : 'figure'
}

const byName = (parameters: readonly KnownParameter[]): ReadonlyMap<string, KnownParameter> =>
  new Map(parameters.map((parameter) => [parameter.name.toLowerCase(), parameter]))

const KNOWN: Readonly<Record<Content, ReadonlyMap<string, KnownParameter>>> = {
  companies: byName(COMPANY_PARAMETERS),
  relations: byName(
    RELATIONS_PARAMETERS.map(({ name, datatype }) => ({
      name,
      datatype,
      filterClass: classOf(name),
      sortable: false,
    })),
  ),
}

/** A parameter by its name alone, without a year. */
export const parameterNamed = (content: Content, name: string): KnownParameter | undefined =>
  KNOWN[content].get(name.toLowerCase())

const WITH_YEAR = new RegExp(`^(.+)${YEAR_SUFFIX}([0-9]{4})$`, 'i')

/** A parameter as a search names it: a figure may end in `_Year_<year>`. */
export const parameterGiven = (
  content: Content,
  name: string,
): { readonly parameter: KnownParameter; readonly year: number | null } | undefined => {
  const parameter = parameterNamed(content, name)
  if (parameter !== undefined) return { parameter, year: null }
  const [, plain, year] = WITH_YEAR.exec(name) ?? []
  const figure = plain === undefined ? undefined : parameterNamed(content, plain)
  return figure?.filterClass === 'figure' ? { parameter: figure, year: Number(year) } : undefined
}

/** Records that a caller may see, as conditions in SQL and as sets of areas. Country codes are compared in upper case. */

import { AREAS, type Area } from '../../../contract/authorization.ts'
import { ISO_COUNTRIES } from '../../../contract/iso-countries.ts'
import { type Areas, areasFor, type Caller } from '../../access/caller.ts'
import { type Binder, inStrings } from './bound-values.ts'

const EVERY_AREA: Areas = new Set(AREAS)

const within = (
  { rights }: Caller,
  holds: (areas: Areas) => boolean,
  column: string,
  binder: Binder,
): string => {
  if (rights === 'everything') return 'true'
  const countries = [...rights.countries].flatMap(([country, areas]) =>
    holds(areas) ? [country.toUpperCase()] : [],
  )
  const named = inStrings(`upper(${column})`, countries, binder)
  const isOpen = rights.withoutCountry !== null && holds(rights.withoutCountry)
  // IN is NULL for a record without a country: not true, and under a NOT not false either.
  return isOpen ? `(${column} IS NULL OR ${named})` : `(${column} IS NOT NULL AND ${named})`
}

/** Holds for records that the caller may see at all. @param column of the country code */
export const isVisible = (caller: Caller, column: string, binder: Binder): string =>
  within(caller, () => true, column, binder)

/** Holds for records of countries where the caller has an area. */
export const hasArea = (caller: Caller, area: Area, column: string, binder: Binder): string =>
  within(caller, (areas) => areas.has(area), column, binder)

const NO_AREA: Areas = new Set()

/** Areas for a record that a search has found visible. */
export const areasOf = (caller: Caller, country: string | null): Areas =>
  areasFor(caller, country?.toUpperCase() ?? null, EVERY_AREA) ?? NO_AREA

/** The codes that a caller of every country may name. @param inLake of the records, as they stand there */
export const namedCountries = (inLake: readonly string[]): ReadonlySet<string> =>
  new Set([...ISO_COUNTRIES, ...inLake.map((country) => country.toUpperCase())])

/** Whether a caller may name a country in a filter. @param everywhere what `namedCountries` gives */
export const isAuthorized = ({ rights }: Caller, country: string, everywhere: ReadonlySet<string>): boolean =>
  (rights === 'everything' ? everywhere : rights.countries).has(country.toUpperCase())

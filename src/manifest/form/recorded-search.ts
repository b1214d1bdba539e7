/** A search as the manifest keeps it, where every snapshot would repeat it for good: of persons' numbers only how many. */

import type { SearchParameters } from '../../contract/requests.ts'

/** Parameters whose values name a person. */
const PERSONAL: readonly string[] = ['nationalidentificationnumber']

const isPersonal = (name: string): boolean => PERSONAL.includes(name.toLowerCase())

/** Whether a search names persons: once it is recorded, nobody can tell whether another one asks for the same. */
export const namesPersons = (search: SearchParameters): boolean => Object.keys(search).some(isPersonal)

const countOf = (values: readonly unknown[]): string =>
  `${values.length} ${values.length === 1 ? 'value' : 'values'}`

/**
 * The search with a count in place of values that name persons.
 *
 * @example recordedSearch({ NationalIdentificationNumber: ['19500101-1234'] }) // { NationalIdentificationNumber: ['1 value'] }
 */
export const recordedSearch = (search: SearchParameters): SearchParameters =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [name, isPersonal(name) ? [countOf(values)] : values]),
  )

/** What the manifest says of searches, sources and names, without what tells of the forgotten. Pure. */

import type { SearchParameters } from '../../contract/requests.ts'
import type { PullEntry, SourceEntry } from '../../core/partition.ts'
import { withSearch } from '../../core/source-kinds.ts'
import { type Identifiers, stripped } from './identifiers.ts'

/** Stands in place of a value. */
const FORGOTTEN = 'forgotten'

/** An id of a file's name is one only where it is long: others are numbers of files. */
const LEAST_DIGITS = 6

export const cleanSearch = (search: SearchParameters, identifiers: Identifiers): SearchParameters =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [
      name,
      values.map((value) => {
        const text = String(value)
        const isOf =
          identifiers.standIn(text) ||
          identifiers.standIn(stripped(text)) ||
          // A figure or a day may be the same number.
          (/^(internalid|dynamicsearch|semanticsearch)$/i.test(name) && identifiers.idStandsIn(text))
        return isOf ? FORGOTTEN : value
      }),
    ]),
  )

/** The same of a search that is stored as JSON. */
export const cleanSearchText = (text: string, identifiers: Identifiers): string => {
  const search: SearchParameters = JSON.parse(text)
  const cleaned = cleanSearch(search, identifiers)
  return JSON.stringify(cleaned) === JSON.stringify(search) ? text : JSON.stringify(cleaned)
}

const cleanName = (name: string, identifiers: Identifiers): string =>
  identifiers.standIn(name) || identifiers.idStandsIn(name, LEAST_DIGITS) ? FORGOTTEN : name

export const cleanSource = <Source extends SourceEntry>(source: Source, identifiers: Identifiers): Source => {
  const cleaned = withSearch(source, (search) => cleanSearch(search, identifiers))
  const isSame = JSON.stringify(cleaned) === JSON.stringify(source)
  // The name of a window says what it searches for.
  const name = isSame ? cleanName(source.name, identifiers) : `${FORGOTTEN} ${source.sha256.slice(0, 8)}`
  return { ...cleaned, name }
}

export const cleanPull = (pull: PullEntry, identifiers: Identifiers): PullEntry => ({
  ...pull,
  search: cleanSearch(pull.search, identifiers),
})
